import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import type { Resumer } from "@countersign/mcp";
import { signWebhookForTest } from "@countersign/mcp/fake";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { check } from "@/examples/webhook-resume/check";
import { serveWebhooks } from "@/examples/webhook-resume/receiver";
import { parseOutboundAllow } from "@/lib/outbound/policy";
import { getService } from "@/lib/process";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { startDelivering } from "@/lib/webhooks/deliver";
import { freePorts } from "@/test/support/free-port";
import { drawn, type ExampleStage, ends, startExampleStage } from "./stage";

let stage: ExampleStage;

beforeAll(async () => {
  stage = await startExampleStage();
});
afterAll(() => stage?.stop());

const actor = { kind: "service" } as const;
/** Granted to an attempt that died. */
const died = { status: "accepted", consumed: true, outcome: null };
const ofOneEra = [ends.ranOnce, ends.declined, ends.ranOnce, died];
/** Without those that the check asks for elsewhere and takes back. */
const decidedEnds = async () => (await stage.endsOf("delete_project")).filter(({ status }) => status !== "withdrawn");

describe("webhook-resume: no call waits, and what was approved runs once (I1, I5, I14)", () => {
  it("with requests that the check signs itself, in both eras", async () => {
    await check(stage.setting);
    expect(await decidedEnds()).toEqual([...ofOneEra, ...ofOneEra]);
    expect(drawn(stage.decisions[0]?.view.title ?? null)).toBe("Delete project Apollo");
  });

  it("with events that the service sends itself: from the decision on the page to the run and back", async () => {
    const service = getService();
    const [port = 0] = await freePorts(1);
    Object.assign(service.config, { outbound: parseOutboundAllow("127.0.0.1/32").policy });
    const { clientId } = stage.setting;
    const endpoint = { clientId, url: `http://127.0.0.1:${port}/webhooks`, events: [] };
    const { endpointId, secret } = await addEndpoint(service, endpoint, actor);
    const worker = startDelivering(service);
    try {
      await check({ ...stage.setting, webhooks: { port, secret } });
    } finally {
      await worker.stop();
    }
    expect((await decidedEnds()).slice(-8)).toEqual([...ofOneEra, ...ofOneEra]);
    const { rows } = await service.pool.query<{ type: string }>(
      `SELECT DISTINCT o."type" FROM "webhook_delivery" d JOIN "outbox" o ON o."id" = d."outbox_id"
       WHERE d."endpoint_id" = $1 AND d."status" = 'delivered'`,
      [endpointId],
    );
    expect(rows.map(({ type }) => type)).toEqual(expect.arrayContaining(["approval.accepted", "approval.declined"]));
  });
});

describe("the receiver of the example", () => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const data = { clientId: "cli_1", endpointId: "whe_1" };
  const body = JSON.stringify({ type: "webhook.test", timestamp: new Date().toISOString(), data });
  const send = (url: string, sent: string, method = "POST") =>
    fetch(url, { method, headers: signWebhookForTest({ body, secret }), ...(method === "GET" ? {} : { body: sent }) });

  it("answers before it works, and lives on after a sender that goes away and one that sends too much", async () => {
    const woken: string[] = [];
    let finish = () => {};
    const heed: Resumer["heed"] = async ({ type }) => {
      woken.push(type);
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      return { kind: "not_ours" };
    };
    const receiver = await serveWebhooks({ resumer: { heed } as Resumer, secret });
    const { port } = new URL(receiver.url);
    const cut = connect(Number(port), "127.0.0.1");
    cut.write("POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{");
    await once(cut, "connect");
    cut.destroy();
    expect((await send(receiver.url, `${body}${" ".repeat(70_000)}`)).status).toBe(413);
    expect((await send(receiver.url, body, "GET")).status).toBe(404);
    expect((await send(`http://127.0.0.1:${port}/other`, body)).status).toBe(404);
    expect((await send(receiver.url, `${body} `)).status).toBe(400);
    expect((await send(receiver.url, body)).status).toBe(204);
    expect(woken).toEqual(["webhook.test"]);
    finish();
    await receiver.settled();
    await receiver.close();
  });

  it("says 500 where its own secret is none, and lives on after a store that fails", async () => {
    const said: string[] = [];
    const onTrouble = (message: string) => void said.push(message);
    const resumer = { heed: () => Promise.reject(new Error("disk full")) } as unknown as Resumer;
    const unset = await serveWebhooks({ resumer, secret: "x", onTrouble });
    expect((await send(unset.url, body)).status).toBe(500);
    await unset.close();
    const failing = await serveWebhooks({ resumer, secret, onTrouble });
    expect((await send(failing.url, body)).status).toBe(204);
    await failing.close();
    expect(said).toEqual([
      expect.stringContaining("begins with whsec_"),
      "webhook: the store of jobs failed: Error: disk full",
    ]);
  });
});

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startDelivering } from "@/lib/webhooks/deliver";
import { addPerson, addTestClient, mintApproval, signIn } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService, type TestService } from "../support/database";
import { decideAs } from "../support/deciding";
import { deliverDue, loopbackAllowed } from "../support/delivering";
import { answerWith, startWebhookReceiver, type WebhookReceiver } from "../support/webhook-receiver";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let cli: CommandLine;
let t: TestService;
let receiver: WebhookReceiver;

beforeAll(async () => {
  const secret = randomBytes(32);
  t = await createTestService({ ...loopbackAllowed, secret });
  receiver = await startWebhookReceiver();
  cli = commandLine({
    DATABASE_URL: t.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: t.service.config.url,
    OUTBOUND_ALLOW: "127.0.0.1",
  });
});
afterAll(async () => {
  await receiver.stop();
  await t.stop();
});

describe("countersign webhooks", () => {
  it("adds an endpoint, tests it, shows what was sent, sends it again, changes its secret and takes it away", async () => {
    const client = await addTestClient(t.service);
    const { clientId } = client;
    const added = await cli.ask<{ endpointId: string; secret: string }>([
      "webhooks",
      "add",
      "--client",
      clientId,
      "--url",
      receiver.url,
      "--event",
      "approval.declined",
      "approval.accepted",
    ]);
    const { endpointId, secret } = added;
    const tested = await cli.ask<{ result: object }>(["webhooks", "test", endpointId]);
    expect(tested.result).toEqual({ kind: "delivered", statusCode: 204 });
    const ada = await addPerson(t.service);
    await decideAs(t.service, (await signIn(t.service, ada)).session, (await mintApproval(client, ada)).id, "accept");
    await deliverDue(t.service);
    expect(receiver.received.map((each) => receiver.verify(each, secret).type)).toEqual([
      "webhook.test",
      "approval.accepted",
    ]);

    type Listed = { deliveries: { deliveryId: string; type: string; status: string; statusCode: number }[] };
    const { deliveries } = await cli.ask<Listed>(["webhooks", "deliveries", endpointId, "--status", "delivered"]);
    expect(deliveries).toMatchObject([
      { type: "approval.accepted", status: "delivered", statusCode: 204 },
      { type: "webhook.test", status: "delivered", statusCode: 204 },
    ]);
    const worker = startDelivering(t.service, 50);
    await cli.ask(["webhooks", "replay", deliveries[0]?.deliveryId ?? ""]);
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const range = await cli.ask(["webhooks", "replay", "--endpoint", endpointId, "--since", since, "--all"]);
    expect(range).toMatchObject({ endpointId });
    await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(3), 10_000);
    await worker.stop();
    expect(new Set(receiver.received.slice(1).map(({ headers }) => headers["webhook-id"])).size).toBe(1);

    const rotated = await cli.ask<{ secret: string }>(["webhooks", "rotate-secret", endpointId]);
    receiver.received.length = 0;
    await cli.ask(["webhooks", "test", endpointId]);
    for (const each of [secret, rotated.secret])
      expect(receiver.received.map((received) => receiver.verify(received, each).type)).toEqual(["webhook.test"]);

    const listed = await cli.run(["webhooks", "list", "--client", clientId]);
    expect(listed.stdout).toContain(endpointId);
    for (const each of [secret, rotated.secret]) {
      expect(listed.stdout).not.toContain(each);
      expect(cli.complaints()).not.toContain(each);
    }
    expect(await cli.ask(["webhooks", "disable", endpointId])).toEqual({ endpointId, changed: true });
    expect(await cli.ask(["webhooks", "enable", endpointId])).toEqual({ endpointId, changed: true });
    expect(await cli.ask(["webhooks", "remove", endpointId])).toEqual({ endpointId, changed: true });
    expect(await cli.ask(["webhooks", "list", "--client", clientId])).toEqual({ endpoints: [] });
  });

  it("exits with 1 where a test event does not arrive, and says why where it refuses", async () => {
    const { clientId } = await addTestClient(t.service);
    const { endpointId } = await cli.ask<{ endpointId: string }>([
      "webhooks",
      "add",
      "--client",
      clientId,
      "--url",
      receiver.url,
    ]);
    receiver.answer = answerWith(500);
    const tested = await cli.run(["webhooks", "test", endpointId]);
    expect([tested.code, tested.stdout]).toEqual([1, "It did not arrive: HTTP status 500.\n"]);
    const refused = await cli.fail(["webhooks", "add", "--client", clientId, "--url", "https://169.254.169.254/"]);
    expect(refused).toMatchObject({
      code: 1,
      error: { code: "invalid_request", message: expect.stringContaining("OUTBOUND_ALLOW") },
    });
    expect(await cli.fail(["webhooks", "replay"])).toMatchObject({ code: 1, error: { code: "usage" } });
    expect(await cli.fail(["webhooks", "test", "whe_none"])).toMatchObject({ error: { code: "not_found" } });
    expect(await cli.fail(["webhooks", "replay", "--endpoint", endpointId, "--since", "yesterday"])).toMatchObject({
      error: { code: "bad_instant" },
    });
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { adminForms } from "@/app/admin/forms";
import { readNotice } from "@/lib/admin/notice";
import { readOverview } from "@/lib/admin/overview";
import { readEndpointForAdmin, readEndpointsForAdmin } from "@/lib/admin/read-webhooks";
import { readClock } from "@/lib/database/clock";
import { setService } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { listEndpoints } from "@/lib/webhooks/list-endpoints";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { codeOf } from "@/test/support/codes";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { deliverDue, loopbackAllowed } from "@/test/support/delivering";
import { answerWith, startWebhookReceiver, type WebhookReceiver } from "@/test/support/webhook-receiver";

const cli = { kind: "admin", via: "cli" } as const;
const verbs = ["test", "disable", "enable", "replay", "replay-missed"] as const;
let t: TestService;
let ada: Person;
let admins: Awaited<ReturnType<typeof signIn>>;
let receiver: WebhookReceiver;
let endpointId: string;
let clientId: string;

beforeAll(async () => {
  t = await createTestService(loopbackAllowed);
  setService(t.service);
  admins = await signIn(t.service, await addPerson(t.service, "Alan", ["admin"]));
  ada = await addPerson(t.service, "Ada");
  receiver = await startWebhookReceiver();
  const client = await addTestClient(t.service);
  clientId = client.clientId;
  ({ endpointId } = await addEndpoint(t.service, { clientId, url: receiver.url, events: [] }, cli));
  const { id } = await mintApproval(client, ada);
  await decideAs(t.service, (await signIn(t.service, ada)).session, id, "accept");
  await deliverDue(t.service);
});
afterAll(async () => {
  await receiver.stop();
  await t.stop();
});

type Posting = {
  fields?: Record<string, string>;
  signedIn?: typeof admins;
  csrfOf?: string;
  headers?: Record<string, string>;
};

async function post(verb: string, posting: Posting = {}, id = endpointId): Promise<Response> {
  const { signedIn = admins, headers = { "sec-fetch-site": "same-origin" } } = posting;
  const target = posting.csrfOf ?? `webhook:${verb}:${id}`;
  const csrf = csrfToken(t.service.secrets, { sid: signedIn.session.sid, purpose: "admin", target });
  const path = `/admin/webhooks/${id}/${verb}`;
  const request = new Request(`http://localhost:3000${path}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", cookie: signedIn.cookie, ...headers },
    body: new URLSearchParams({ csrf, ...posting.fields }),
  });
  const handler = adminForms[`/admin/webhooks/:id/${verb}`];
  if (!handler) throw new Error(`no form ${verb}`);
  return handler(request, { id });
}

async function noticeOf(response: Response) {
  const cookie = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
  const page = response.headers.get("location") ?? "";
  return (await readNotice(t.service, new Headers({ cookie }), { sid: admins.session.sid, page }))?.notice;
}

const endpoint = async () => (await listEndpoints(t.service.pool, { endpointId }))[0];

describe("the pages about webhooks", () => {
  it("are there for admins alone, and show no secret", async () => {
    const auditor = await signIn(t.service, await addPerson(t.service, "Iris", ["auditor"]));
    for (const { session } of [await signIn(t.service, ada), auditor]) {
      expect(await readEndpointsForAdmin(t.service, session)).toBeUndefined();
      expect(await readEndpointForAdmin(t.service, session, endpointId, {})).toBeUndefined();
    }
    const shown = await readEndpointForAdmin(t.service, admins.session, endpointId, {});
    expect(shown?.deliveries).toMatchObject([{ type: "approval.accepted", status: "delivered", statusCode: 204 }]);
    expect(JSON.stringify([shown, await readEndpointsForAdmin(t.service, admins.session)])).not.toMatch(/whsec|eyJ/);
  });

  it("take whatever stands in their address: what is none of ours narrows nothing and fails nothing", async () => {
    for (const filter of [
      { status: "x" },
      { before: "0" },
      { before: "1e9" },
      { before: "\u0000" },
      { status: "'", before: "-" },
    ])
      expect((await readEndpointForAdmin(t.service, admins.session, endpointId, filter))?.deliveries).toHaveLength(1);
    for (const id of ["", "whe_", "\u0000", "../x", `whe_${"0".repeat(26)}`])
      expect(await readEndpointForAdmin(t.service, admins.session, id, {})).toBeUndefined();
  });
});

describe("the forms about webhooks", () => {
  it("do nothing for anybody but admins, from another origin, with another form's token, or after an old sign-in", async () => {
    receiver.received.length = 0;
    const adas = await signIn(t.service, ada);
    const authTime = Math.floor((await readClock(t.service.pool)).getTime() / 1000) - 302;
    const old = await signIn(t.service, await addPerson(t.service, "Olga", ["admin"]), { authTime });
    for (const verb of verbs) {
      expect(await codeOf(post(verb, { signedIn: adas }))).toEqual([404, "not_found"]);
      expect(await codeOf(post(verb, { headers: { "sec-fetch-site": "cross-site" } }))).toEqual([
        403,
        "forbidden_origin",
      ]);
      for (const csrfOf of [`webhook:${verb}:whe_other`, `webhook:other:${endpointId}`, `client:${verb}:${endpointId}`])
        expect(await noticeOf(await post(verb, { csrfOf }))).toBe("stale_form");
      expect((await post(verb, { signedIn: old })).headers.get("location")).toContain("sign-in-again");
    }
    expect(receiver.received).toEqual([]);
    expect(await endpoint()).toMatchObject({ disabledAt: null, pending: 0 });
  });

  it("send a test event and say whether it arrived", async () => {
    expect(await noticeOf(await post("test"))).toBe("webhook_arrived");
    receiver.answer = answerWith(500);
    expect(await noticeOf(await post("test"))).toBe("webhook_failed");
    receiver.answer = answerWith(204);
    expect((await readOverview(t.service, admins.session))?.endpoints).toMatchObject([
      { endpointId, failingSince: expect.any(Date) },
    ]);
  });

  it("stop and start an endpoint and send again what is asked for; each act stands in the history with who and from where", async () => {
    expect(await noticeOf(await post("disable"))).toBe("webhook_disabled");
    expect(await endpoint()).toMatchObject({ disabledReason: "admin" });
    expect(await noticeOf(await post("enable"))).toBe("webhook_enabled");
    const [delivery] =
      (await readEndpointForAdmin(t.service, admins.session, endpointId, { status: "delivered" }))?.deliveries ?? [];
    expect(await noticeOf(await post("replay", { fields: { delivery: delivery?.deliveryId ?? "" } }))).toBe(
      "webhook_replayed",
    );
    expect(await noticeOf(await post("replay-missed"))).toBe("webhook_replayed");
    const asBrowser = { "sec-fetch-site": "same-origin", accept: "text/html" };
    expect(await noticeOf(await post("replay", { fields: { delivery: "x" }, headers: asBrowser }))).toBe("gone");
    const { rows } = await t.service.pool.query(
      `SELECT "type" FROM "audit_event" WHERE "type" LIKE 'admin.webhook%' AND "client_id" = $1 AND "actor" ->> 'via' = 'page' ORDER BY "seq"`,
      [clientId],
    );
    expect(rows.map(({ type }) => type)).toEqual([
      "admin.webhook_tested",
      "admin.webhook_tested",
      "admin.webhook_disabled",
      "admin.webhook_enabled",
      "admin.webhook_replayed",
      "admin.webhook_replayed",
    ]);
  });
});

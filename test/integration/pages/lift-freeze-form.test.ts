import { afterAll, beforeAll, expect, it } from "vitest";
import { accountForms } from "@/app/account/forms";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { readClock } from "@/lib/database/clock";
import { setService } from "@/lib/process";
import { csrfToken } from "@/lib/sessions/csrf";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let ada: Person;
let adas: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  setService(t.service);
  ada = await addPerson(t.service, "Ada");
  adas = await signIn(t.service, ada);
});
afterAll(() => t.stop());

async function freeze(): Promise<{ clientId: string; freezeId: string }> {
  const client = await addTestClient(t.service);
  const { id } = await mintApproval(client, ada);
  await decideAs(t.service, adas.session, id, "not_requested");
  const [put] = await listPersonFreezes(t.service.pool, { clientId: client.clientId });
  return { clientId: client.clientId, freezeId: put?.freezeId ?? "" };
}

const tokenFor = (sid: string, freezeId: string) =>
  csrfToken(t.service.secrets, { sid, purpose: "account", target: `freeze:${freezeId}` });

function post(freezeId: string, csrf: string, cookie = adas.cookie, headers: Record<string, string> = {}) {
  const request = new Request(`http://localhost:3000/account/freezes/${freezeId}/lift`, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "sec-fetch-site": "same-origin",
      cookie,
      ...headers,
    },
    body: new URLSearchParams({ csrf }),
  });
  const handler = accountForms["/account/freezes/:id/lift"];
  if (!handler) throw new Error("there is no such form");
  return handler(request, { id: freezeId });
}

const isHeld = async (clientId: string) => (await listPersonFreezes(t.service.pool, { clientId })).length === 1;
const answerOf = (response: Response) => [response.status, response.headers.get("location")];

it("lifts the person's own freeze and leads back to the account page", async () => {
  const { clientId, freezeId } = await freeze();
  const response = await post(freezeId, tokenFor(adas.session.sid, freezeId));
  expect([...answerOf(response), await isHeld(clientId)]).toEqual([303, "/account#freezes", false]);
});

it("with a sign-in that is too old it leads to a fresh one and back, and nothing is lifted", async () => {
  const { clientId, freezeId } = await freeze();
  const authTime = Math.floor((await readClock(t.service.pool)).getTime() / 1000) - 302;
  const old = await signIn(t.service, ada, { authTime });
  const response = await post(freezeId, tokenFor(old.session.sid, freezeId), old.cookie);
  expect([...answerOf(response), await isHeld(clientId)]).toEqual([
    303,
    "/account/sign-in-again?to=%2Faccount%23freezes",
    true,
  ]);
});

it("I1, I2: from elsewhere, with a token of another freeze, session or purpose, signed out, or by somebody else it lifts nothing", async () => {
  const [{ clientId, freezeId }, other] = [await freeze(), await freeze()];
  const { sid } = adas.session;
  const eve = await signIn(t.service, await addPerson(t.service, "Eve"));
  const good = tokenFor(sid, freezeId);
  expect((await post(freezeId, good, adas.cookie, { "sec-fetch-site": "cross-site" })).status).toBe(403);
  for (const csrf of [
    "",
    tokenFor(sid, other.freezeId),
    tokenFor(eve.session.sid, freezeId),
    csrfToken(t.service.secrets, { sid, purpose: "admin", target: `freeze:${freezeId}` }),
  ])
    expect((await post(freezeId, csrf)).status).toBe(403);
  expect(answerOf(await post(freezeId, good, ""))).toEqual([303, "/signin?callbackUrl=%2Faccount"]);
  // Somebody else's freeze looks like one that is over.
  const foreign = await post(freezeId, tokenFor(eve.session.sid, freezeId), eve.cookie);
  expect([...answerOf(foreign), await isHeld(clientId)]).toEqual([303, "/account#freezes", true]);
});

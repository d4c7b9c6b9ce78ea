import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFormApp, isForm } from "@/app/forms";
import { readPasskeys } from "@/lib/passkeys/passkey";
import { type Service, setService } from "@/lib/process";
import { type CsrfBinding, csrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession } from "@/lib/sessions/session";
import { addPerson, type Person, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { authenticatorFor, registeredBy, steppedUp } from "@/test/support/registering";

let t: TestService;
let service: Service;
let ada: Person;
let adas: Awaited<ReturnType<typeof signIn>>;
let eves: Awaited<ReturnType<typeof signIn>>;

beforeAll(async () => {
  t = await createTestService();
  service = t.service;
  setService(service);
  ada = await addPerson(service);
  adas = await signIn(service, ada, steppedUp);
  eves = await signIn(service, await addPerson(service, "Eve"), steppedUp);
});
afterAll(() => t.stop());

const own = { "sec-fetch-site": "same-origin" };

async function post(
  path: string,
  cookie: string,
  fields: Record<string, string>,
  headers: Record<string, string> = own,
) {
  expect(isForm("POST", path)).toBe(true);
  const body = new URLSearchParams(fields).toString();
  const type = { "content-type": "application/x-www-form-urlencoded" };
  return createFormApp(service).fetch(
    new Request(`${service.config.url}${path}`, { method: "POST", headers: { ...type, cookie, ...headers }, body }),
  );
}

const token = (session: PersonSession, target: string, purpose: CsrfBinding["purpose"] = "account") =>
  csrfToken(service.secrets, { sid: session.sid, purpose, target });
const passkeysOf = (session: PersonSession) => readPasskeys(service.prisma, service.secrets, session);

describe("the forms of the account page", () => {
  it("register a passkey: a question, then its answer, for the page's own script", async () => {
    const { session, cookie } = adas;
    const csrf = token(session, "passkey:new");
    const asked = await post("/account/passkeys/challenge", cookie, { csrf, name: "Laptop" });
    expect(asked.headers.get("cache-control")).toBe("no-store");
    const { question } = (await asked.json()) as { question: { challenge: string; user: { id: string } } };
    const answer = JSON.stringify(authenticatorFor(service).register(question.challenge, question.user.id));
    const made = await post("/account/passkeys", cookie, { csrf, name: "Laptop", answer });
    expect(await made.json()).toEqual({ goTo: "/account#passkeys" });
    expect((await passkeysOf(session)).map(({ name }) => name)).toEqual(["Laptop"]);
    const again = await post("/account/passkeys", cookie, { csrf, name: "Laptop", answer });
    expect(await again.json()).toEqual({ fault: "refused" });
    const nameless = await post("/account/passkeys/challenge", cookie, { csrf, name: " " });
    expect(await nameless.json()).toEqual({ fault: "bad_name" });
  });

  it("lead whoever signed in too long ago to the sign-in, with nothing done", async () => {
    const old = await signIn(service, ada, { authTime: Math.floor(Date.now() / 1000) - 310 });
    const asked = await post("/account/passkeys/challenge", old.cookie, {
      csrf: token(old.session, "passkey:new"),
      name: "Laptop",
    });
    expect(await asked.json()).toEqual({ goTo: "/account/sign-in-again?to=%2Faccount" });
    const { credentialId } = await registeredBy(service, adas.session);
    const csrf = token(old.session, `passkey:${credentialId}`);
    const removed = await post(`/account/passkeys/${credentialId}/remove`, old.cookie, { csrf });
    expect([removed.status, removed.headers.get("location")]).toEqual([303, "/account/sign-in-again?to=%2Faccount"]);
    expect((await passkeysOf(adas.session)).map((passkey) => passkey.credentialId)).toContain(credentialId);
  });

  it("rename and remove a passkey, each with its own token", async () => {
    const { session, cookie } = adas;
    const { credentialId } = await registeredBy(service, session);
    const csrf = token(session, `passkey:${credentialId}`);
    const renamed = await post(`/account/passkeys/${credentialId}/rename`, cookie, { csrf, name: "Old phone" });
    expect([renamed.status, renamed.headers.get("location")]).toEqual([303, "/account#passkeys"]);
    expect((await passkeysOf(session)).map(({ name }) => name)).toContain("Old phone");
    const removed = await post(`/account/passkeys/${credentialId}/remove`, cookie, { csrf });
    expect([removed.status, removed.headers.get("location")]).toEqual([303, "/account#passkeys"]);
    const once = await post(`/account/passkeys/${credentialId}/remove`, cookie, { csrf });
    expect([once.status, once.headers.get("location")]).toEqual([303, "/account#passkeys"]);
    expect((await passkeysOf(session)).map((passkey) => passkey.credentialId)).not.toContain(credentialId);
  });

  it("rename and remove nothing long after the sign-in: they send the person to sign in again", async () => {
    const { credentialId } = await registeredBy(service, adas.session);
    const { session, cookie } = await signIn(service, ada, { authTime: Math.floor(Date.now() / 1000) - 301 });
    const csrf = token(session, `passkey:${credentialId}`);
    for (const verb of ["rename", "remove"]) {
      const answer = await post(`/account/passkeys/${credentialId}/${verb}`, cookie, { csrf, name: "Late" });
      expect([answer.status, answer.headers.get("location")]).toEqual([303, "/account/sign-in-again?to=%2Faccount"]);
    }
    expect((await passkeysOf(session)).find((passkey) => passkey.credentialId === credentialId)?.name).toBe("Phone");
  });

  it("do nothing for another person's passkey, with whatever token", async () => {
    const { credentialId } = await registeredBy(service, adas.session);
    const csrf = token(eves.session, `passkey:${credentialId}`);
    await post(`/account/passkeys/${credentialId}/rename`, eves.cookie, { csrf, name: "Mine" });
    await post(`/account/passkeys/${credentialId}/remove`, eves.cookie, { csrf });
    expect((await passkeysOf(adas.session)).find((passkey) => passkey.credentialId === credentialId)?.name).toBe(
      "Phone",
    );
  });

  it("do nothing from elsewhere, without a session, or with the token of another form (I1)", async () => {
    const { session, cookie } = adas;
    const { credentialId } = await registeredBy(service, session);
    const before = await passkeysOf(session);
    const paths = {
      "/account/passkeys/challenge": "passkey:new",
      "/account/passkeys": "passkey:new",
      [`/account/passkeys/${credentialId}/rename`]: `passkey:${credentialId}`,
      [`/account/passkeys/${credentialId}/remove`]: `passkey:${credentialId}`,
      "/account/passkeys/step-up/challenge": "account",
      "/account/passkeys/step-up": "account",
    };
    for (const [path, target] of Object.entries(paths)) {
      const purpose = path.includes("step-up") ? "step_up" : "account";
      const fields = { csrf: token(session, target, purpose), name: "Changed", stepUpFor: "account" };
      expect((await post(path, cookie, fields, { "sec-fetch-site": "cross-site" })).status).toBe(403);
      expect((await post(path, "", fields)).headers.get("location")).toBe("/signin?callbackUrl=%2Faccount");
      for (const csrf of ["", token(session, "passkey:other"), token(eves.session, target, purpose)])
        expect((await post(path, cookie, { ...fields, csrf })).status).toBe(403);
    }
    const stale = await post(
      `/account/passkeys/${credentialId}/remove`,
      cookie,
      { csrf: "" },
      { ...own, accept: "text/html" },
    );
    expect([stale.status, stale.headers.get("location")]).toEqual([303, "/account"]);
    expect(await passkeysOf(session)).toEqual(before);
  });

  it("step up: the answer sets the cookie of a new session, and a refusal sets none", async () => {
    const { session, cookie } = await signIn(service, ada, { authTime: Math.floor(Date.now() / 1000) - 3600 });
    const key = await registeredBy(service, adas.session);
    const fields = { csrf: token(session, "account", "step_up"), stepUpFor: "account" };
    const ask = async () => {
      const asked = await post("/account/passkeys/step-up/challenge", cookie, fields);
      return ((await asked.json()) as { question: { challenge: string } }).question.challenge;
    };
    const wrong = JSON.stringify(key.get(await ask(), { origin: "https://evil.example" }));
    const refused = await post("/account/passkeys/step-up", cookie, { ...fields, answer: wrong });
    expect([await refused.json(), refused.headers.get("set-cookie")]).toEqual([{ fault: "refused" }, null]);
    const answer = JSON.stringify(key.get(await ask()));
    const proved = await post("/account/passkeys/step-up", cookie, { ...fields, answer });
    expect(await proved.json()).toEqual({});
    const fresh = new Headers({ cookie: (proved.headers.get("set-cookie") ?? "").split(";")[0] ?? "" });
    expect(await readSession(service, fresh)).toMatchObject({
      sub: ada.sub,
      stepUpFor: "account",
      amr: ["pop", "user"],
    });
    expect(await readSession(service, new Headers({ cookie }))).toBeUndefined();
  });
});

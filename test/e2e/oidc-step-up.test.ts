import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addProviderUser } from "@/lib/users/add";
import { addPerson, signIn } from "@/test/support/actors";
import { approve, ask, callback, logIn, sessionOf, signInAt, statusOf, whoIs } from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser, type WebPage } from "@/test/support/web-browser";

let stage: Stage;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage?.stop());

const acme = (sub: string) => ({ iss: stage.acme, sub });
const again = (label = "Acme") => `Sign in again with ${label}`;

/** A browser that is signed in and stands before the step-up page of an approval that wants a sign-in for it alone. */
async function beforeStepUp(login: string, label = "Acme", iss = stage.acme) {
  const browser = new WebBrowser();
  await signInAt(stage, browser, login, "/inbox", label);
  const { id, url } = await ask(stage, { iss, sub: login }, { maxAuthAgeSeconds: 0 });
  const page = await browser.open(url);
  return { browser, id, url, page, before: await sessionOf(stage, browser) };
}

/** That nothing came of it: one page with the words and the button, the same session as before, nothing decided. */
async function expectRefused(
  at: Awaited<ReturnType<typeof beforeStepUp>>,
  page: WebPage,
  words: string,
  button = again(),
): Promise<void> {
  expect([page.status, page.url, page.text.includes(words)]).toEqual([200, `${at.url}/sign-in-again`, true]);
  expect(page.forms.flatMap(({ buttons }) => buttons.map(({ text }) => text))).toContain(button);
  expect(await sessionOf(stage, at.browser)).toEqual(at.before);
  expect(await statusOf(stage, at.id)).toBe("pending");
  expect((await at.browser.open(at.url)).url).toBe(`${at.url}/sign-in-again`);
}

describe("a step-up at the provider", () => {
  it("asks the person anew, for this very approval, in a new session in the place of the old one", async () => {
    const at = await beforeStepUp("ada");
    const thief = at.browser.clone();
    expect([at.page.url, at.page.text.includes("Password")]).toEqual([`${at.url}/sign-in-again`, false]);
    const there = await at.browser.submit(at.page, again(), {}, { until: /127\.0\.0\.1/ });
    const asked = new URL(there.url).searchParams;
    expect([asked.get("prompt"), asked.get("max_age"), asked.get("login_hint")]).toEqual(["login", "0", null]);
    const login = await at.browser.open(there.url);
    expect(login.text).toMatch(/^Login/);
    const page = await logIn(at.browser, login, "ada");
    expect([page.url, page.text.includes("Delete project Apollo")]).toEqual([at.url, true]);
    const after = await sessionOf(stage, at.browser);
    expect(after).toMatchObject({
      userId: at.before?.userId,
      iss: stage.acme,
      sub: "ada",
      startedAt: at.before?.startedAt,
      stepUpFor: at.id,
    });
    expect(after?.sid).not.toBe(at.before?.sid);
    expect(await whoIs(stage, thief)).toBeUndefined();
    await approve(stage, at.browser, at.id);
    expect(await statusOf(stage, at.id)).toBe("accepted");
    const other = await ask(stage, acme("ada"), { maxAuthAgeSeconds: 0 });
    expect((await at.browser.open(other.url)).url).toBe(`${other.url}/sign-in-again`);
  });

  it("asks for the age that is demanded, and no second time where the sign-in is young enough", async () => {
    const browser = new WebBrowser();
    const { url } = await ask(stage, acme("sleepy"), { maxAuthAgeSeconds: 120 });
    const page = await signInAt(stage, browser, "sleepy", new URL(url).pathname);
    expect(page.url).toBe(`${url}/sign-in-again`);
    const there = await browser.submit(page, again(), {}, { until: /127\.0\.0\.1/ });
    expect(new URL(there.url).searchParams.get("max_age")).toBe("120");
    const young = await ask(stage, acme("ada"), { maxAuthAgeSeconds: 120 });
    expect((await signInAt(stage, new WebBrowser(), "ada", new URL(young.url).pathname)).url).toBe(young.url);
  });

  it("by another account is refused, not switched to: the session stays, and the right one still can", async () => {
    const at = await beforeStepUp("ada");
    const cookie = at.browser.cookie("countersign.session");
    const page = await logIn(at.browser, await at.browser.submit(at.page, again()), "eve");
    await expectRefused(at, page, "Somebody else signed in");
    expect(at.browser.cookie("countersign.session")).toBe(cookie);
    const right = await logIn(at.browser, await at.browser.submit(page, again()), "ada");
    expect(right.url).toBe(at.url);
    const noted = await stage.service.prisma.auditEvent.count({
      where: { type: "security.wrong_person", approvalId: at.id },
    });
    expect(noted).toBe(1);
  });

  it("by another account is told as that, though its sign-in was old too: the subject comes first", async () => {
    const at = await beforeStepUp("ada");
    const page = await logIn(at.browser, await at.browser.submit(at.page, again()), "sleepy");
    await expectRefused(at, page, "Somebody else signed in");
  });

  it.each([
    ["says that it asked long ago", "sleepy", "Acme", "did not ask you to sign in again"],
    ["says that it will ask tomorrow", "early", "Acme", "clock of your sign-in service is ahead"],
    ["does not say when it asked", "ada", "Timeless", "does not say when you signed in"],
  ] as const)("with a provider that %s ends on one page that says why", async (_how, login, label, words) => {
    const iss = label === "Timeless" ? "https://timeless.example" : stage.acme;
    const at = await beforeStepUp(login, label, iss);
    const page = await logIn(at.browser, await at.browser.submit(at.page, again(label)), login);
    await expectRefused(at, page, words, again(label));
  });

  it("with a provider that ignores prompt=login ends on that page too, never in a loop", async () => {
    const at = await beforeStepUp("sleepy", "Forgetful", "https://forgetful.example");
    for (let round = 0; round < 3; round += 1) {
      const page = await at.browser.submit(at.page, again("Forgetful"));
      await expectRefused(at, page, "did not ask you to sign in again", again("Forgetful"));
    }
  });

  it("works for a browser that has lost next-auth's own token since it signed in: it is given a new one on the way", async () => {
    const at = await beforeStepUp("ada");
    for (const path of [`/a/${at.id}`, "/account", "/account/sign-in-again?to=%2Faccount"]) {
      at.browser.drop("next-auth.csrf-token");
      const page = await at.browser.open(stage.url + path);
      expect([page.status, page.forms.some(({ fields }) => fields["csrfToken"])]).toEqual([200, true]);
    }
    at.browser.drop("next-auth.csrf-token");
    const page = await at.browser.submit(await at.browser.open(at.url), again());
    expect(page.text).toMatch(/^Login/);
  });

  it("that is cancelled at the provider, or whose answer does not hold, says so", async () => {
    const at = await beforeStepUp("ada");
    const cancelled = await at.browser.submit(await at.browser.submit(at.page, again()), "Cancel");
    await expectRefused(at, cancelled, "cancelled or refused");
    const login = await at.browser.submit(cancelled, again());
    const answer = await logIn(at.browser, login, "ada", callback);
    const changed = new URL(answer.url);
    changed.searchParams.set("code", "A".repeat(43));
    await expectRefused(at, await at.browser.open(changed.href), "could not be reached");
    // The transaction was taken by the answer that did not hold: the right one comes too late.
    const late = await at.browser.open(answer.url);
    expect([late.url.includes("flow_used"), await sessionOf(stage, at.browser)]).toEqual([true, at.before]);
  });
});

describe("who may step up how", () => {
  it("a local account with its password alone: it is shown no provider, and none takes its form", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = new WebBrowser();
    const { cookie } = await signIn(stage.service, ada);
    browser.plant(stage.url, "countersign.session", cookie.split("=")[1] ?? "");
    const { id, url } = await ask(stage, ada, { maxAuthAgeSeconds: 0 });
    const page = await browser.open(url);
    expect([page.text.includes("Password"), page.text.includes("Acme")]).toEqual([true, false]);
    const signin = await browser.open(`${stage.url}/signin`);
    const token = signin.forms[0]?.fields["csrfToken"] ?? "";
    const csrf = page.forms.find(({ fields }) => fields["csrf"])?.fields["csrf"] ?? "";
    const forged = await browser.post(`${stage.url}/api/auth/signin/acme`, {
      csrfToken: token,
      flow: "step_up",
      approval: id,
      csrf,
    });
    expect([forged.url, forged.text.includes("This page was too old")]).toEqual([`${url}/sign-in-again`, true]);
  });

  it("I2: for somebody else's approval as for an unknown one: there is nothing here, and nobody is sent anywhere", async () => {
    const eve = new WebBrowser();
    await signInAt(stage, eve, "eve");
    const { id, url } = await ask(stage, acme("ada"), { maxAuthAgeSeconds: 0 });
    const own = await ask(stage, acme("eve"), { maxAuthAgeSeconds: 0 });
    const fields = (await eve.open(own.url)).forms.find(({ action }) => action.endsWith("/acme"))?.fields ?? {};
    for (const approval of [id, "apr_00000000000000000000000000", "nonsense", "../inbox", ""]) {
      const response = await eve.post(`${stage.url}/api/auth/signin/acme`, { ...fields, approval });
      expect([response.status === 404 || response.text.includes("too old"), callback.test(response.url)]).toEqual([
        true,
        false,
      ]);
    }
    const foreign = await eve.open(`${url}/sign-in-again`);
    const unknown = await eve.open(`${stage.url}/a/apr_00000000000000000000000000/sign-in-again`);
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text]);
  });

  it("for what changes an account: the page leads on to a path of ours, and nowhere else", async () => {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "sleepy");
    for (const [to, lands] of [
      ["/account", "/account"],
      ["https://evil.example/", "/inbox"],
      ["//evil.example", "/inbox"],
      ["/\\evil.example", "/inbox"],
    ] as const) {
      const page = await browser.open(`${stage.url}/account/sign-in-again?to=${encodeURIComponent(to)}`);
      expect(page.text).toContain("This needs a sign-in from the last 5 minutes.");
      const form = page.forms.find(({ action }) => action.endsWith("/acme"));
      expect(form?.fields["to"]).toBe(lands);
      const refused = await logIn(browser, await browser.submit(page, again(), { to }), "sleepy");
      expect(refused.url).toBe(`${stage.url}/account/sign-in-again?to=${encodeURIComponent(lands)}`);
      expect(refused.text).toContain("did not ask you to sign in again");
    }
    const ada = new WebBrowser();
    await signInAt(stage, ada, "ada");
    const page = await ada.open(`${stage.url}/account/sign-in-again?to=/account`);
    const done = await logIn(ada, await ada.submit(page, again()), "ada");
    expect([done.url, (await sessionOf(stage, ada))?.stepUpFor]).toEqual([`${stage.url}/account`, "account"]);
  });

  it("a session of a provider that is not configured any more is told so, and can be switched", async () => {
    const gone = { iss: "https://gone.example", sub: "ada", name: "Ada" };
    const { userId } = await addProviderUser(stage.service, gone, { kind: "admin", via: "cli" });
    const { cookie } = await signIn(stage.service, { ...gone, userId, email: "" });
    const browser = new WebBrowser();
    browser.plant(stage.url, "countersign.session", cookie.split("=")[1] ?? "");
    const page = await browser.open(`${stage.url}/account/sign-in-again?to=/account`);
    expect([page.status, page.text.includes("no longer set up here"), page.text.includes("Password")]).toEqual([
      200,
      true,
      false,
    ]);
  });
});

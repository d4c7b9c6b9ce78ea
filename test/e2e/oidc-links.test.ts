import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { csrfToken } from "@/lib/sessions/csrf";
import { addPerson, type Person, password, signIn } from "@/test/support/actors";
import { approve, ask, callback, logIn, sessionOf, signInAt, statusOf, whoIs } from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser, type WebPage } from "@/test/support/web-browser";

let stage: Stage;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage?.stop());

/** A browser that somebody with a local account has just signed in with. */
async function localBrowser(person: Person): Promise<WebBrowser> {
  const browser = new WebBrowser();
  const page = await browser.open(`${stage.url}/signin?callbackUrl=/account`);
  await browser.submit(page, "Sign in", { email: person.email, password });
  return browser;
}

/** Links an account of the named provider, as the account page offers it. */
async function link(browser: WebBrowser, login: string, label = "Acme"): Promise<WebPage> {
  const page = await browser.open(`${stage.url}/account`);
  return logIn(browser, await browser.submit(page, `Link an account of ${label}`), login);
}

const linksOf = (userId: string) =>
  stage.service.prisma.identity.findMany({ where: { userId, linkedBy: "self_service" } });
const deletion = "Delete project Apollo";

describe("an account that somebody links themself", () => {
  it("is proved anew at its provider in the same flow, signs them in, and is theirs alone", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    const account = await browser.open(`${stage.url}/account`);
    const there = await browser.submit(account, "Link an account of Acme", {}, { until: /127\.0\.0\.1/ });
    expect(new URL(there.url).searchParams.get("prompt")).toBe("login");
    const page = await logIn(browser, await browser.open(there.url), "person-0");
    expect([page.url, page.text.includes("The account is linked.")]).toEqual([`${stage.url}/account#links`, true]);
    expect(await linksOf(ada.userId)).toMatchObject([{ iss: stage.acme, sub: "person-0", mayApprove: false }]);
    const phone = new WebBrowser();
    await signInAt(stage, phone, "person-0");
    expect(await sessionOf(stage, phone)).toMatchObject({ userId: ada.userId, iss: stage.acme, sub: "person-0" });
    const again = await link(browser, "person-0");
    expect(again.text).toContain("That account is one of yours already.");
    expect(await linksOf(ada.userId)).toHaveLength(1);
  });

  it("I2: fills the inbox of the other, and decides nothing for it: each is told which account to sign in with", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    await link(browser, "person-1");
    const linked = { iss: stage.acme, sub: "person-1" };
    const [forLocal, forLinked] = [await ask(stage, ada), await ask(stage, linked)];
    const phone = new WebBrowser();
    await signInAt(stage, phone, "person-1");
    const inbox = await phone.open(`${stage.url}/inbox`);
    expect(inbox.text).toContain(`For your account ${ada.email} .`);
    expect([inbox.html.includes(`href="/a/${forLocal.id}"`), inbox.html.includes(`href="/a/${forLinked.id}"`)]).toEqual(
      [false, true],
    );
    expect(inbox.html).toContain(`href="/signin?callbackUrl=/a/${forLocal.id}"`);
    const foreign = await phone.open(forLocal.url);
    expect([foreign.status, foreign.text.includes(deletion)]).toEqual([404, false]);
    await expect(approve(stage, phone, forLocal.id)).rejects.toThrow("the page would not show this approval");
    const other = await browser.open(`${stage.url}/inbox`);
    expect(other.text).toContain("For your account of Acme .");
    expect((await browser.open(forLinked.url)).status).toBe(404);
    const post = await browser.post(`${forLinked.url}/decision`, { csrf: "x", decision: "decline" });
    expect(post.status).toBeGreaterThanOrEqual(400);
    expect([await statusOf(stage, forLocal.id), await statusOf(stage, forLinked.id)]).toEqual(["pending", "pending"]);
    await approve(stage, phone, forLinked.id);
    await approve(stage, browser, forLocal.id);
    expect([await statusOf(stage, forLocal.id), await statusOf(stage, forLinked.id)]).toEqual(["accepted", "accepted"]);
  });

  it("can also be linked to one of another provider: accounts join by proof of both, never by an address", async () => {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "person-2");
    const page = await link(browser, "person-2", "Pairwise");
    expect(page.text).toContain("The account is linked.");
    const session = await sessionOf(stage, browser);
    expect(await linksOf(session?.userId ?? "")).toMatchObject([{ iss: stage.other, sub: "p-2" }]);
    expect(session).toMatchObject({ iss: stage.acme, sub: "person-2" });
  });

  it("is refused where it is somebody else's already", async () => {
    await signInAt(stage, new WebBrowser(), "eve");
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    const page = await link(browser, "eve");
    expect(page.text).toContain("belongs to another user");
    expect(await linksOf(ada.userId)).toEqual([]);
  });

  it.each([
    ["asked long ago", "sleepy", "Acme", "did not ask you to sign in"],
    ["does not say when", "person-3", "Timeless", "does not say when you signed in"],
  ] as const)("is refused where its provider %s", async (_how, login, label, words) => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    const page = await link(browser, login, label);
    expect([page.text.includes(words), await linksOf(ada.userId)]).toEqual([true, []]);
  });

  it("needs a recent sign-in here first, and leads to it and back", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    const page = await browser.open(`${stage.url}/account`);
    const old = await signIn(stage.service, ada, { authTime: Math.floor(Date.now() / 1000) - 301 });
    const stale = new WebBrowser(browser.jar.map((cookie) => ({ ...cookie })));
    stale.plant(stage.url, "countersign.session", old.cookie.split("=")[1] ?? "");
    const shown = await stale.open(`${stage.url}/account`);
    expect([shown.text.includes("Link an account"), shown.text.includes("To link an account")]).toEqual([false, true]);
    const fields = page.forms.find(({ action }) => action.endsWith("/acme"))?.fields ?? {};
    const another = await stale.post(`${stage.url}/api/auth/signin/acme`, fields);
    expect([callback.test(another.url), another.text.includes("This page was too old")]).toEqual([false, true]);
    const binding = { sid: old.session.sid, purpose: "account", target: "link:acme" } as const;
    const csrf = csrfToken(stage.service.secrets, binding);
    const own = await stale.post(`${stage.url}/api/auth/signin/acme`, { ...fields, csrf });
    expect(own.url).toBe(`${stage.url}/account/sign-in-again?to=${encodeURIComponent("/account#links")}`);
    const back = await stale.submit(own, "Sign in", { password });
    expect([back.url, back.text.includes("Link an account of Acme")]).toEqual([`${stage.url}/account#links`, true]);
    expect(await linksOf(ada.userId)).toEqual([]);
  });
});

describe("taking such a link away", () => {
  const press = (browser: WebBrowser, page: WebPage) => browser.submit(page, "Remove link");

  it("ends what it had signed in, with the passkeys that it registered; the person's own session stays", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    const linked = await link(browser, "person-4");
    const phone = new WebBrowser();
    await signInAt(stage, phone, "person-4");
    await stage.service.prisma.passkey.create({
      data: {
        credentialId: "AAAA",
        userId: ada.userId,
        iss: stage.acme,
        sub: "person-4",
        publicKey: new Uint8Array(1),
        counter: 0n,
        transports: [],
        isBackedUp: false,
        name: "Phone",
        createdAt: new Date(),
        mac: new Uint8Array(32),
      },
    });
    const done = await press(browser, linked);
    expect(done.text).toContain("The link is removed.");
    expect([await whoIs(stage, phone), await whoIs(stage, browser)]).toEqual([undefined, ada.sub]);
    expect(await linksOf(ada.userId)).toEqual([]);
    expect(await stage.service.prisma.passkey.count({ where: { userId: ada.userId } })).toBe(0);
    await signInAt(stage, phone, "person-4");
    expect((await sessionOf(stage, phone))?.userId).not.toBe(ada.userId);
    const twice = await press(browser, linked);
    expect(twice.text).toContain("There is no such link any more.");
  });

  it("is for nobody else, for no other link, and not for the account that is signed in", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const browser = await localBrowser(ada);
    const page = await link(browser, "person-5");
    const fields = page.forms.find(({ action }) => action.endsWith("/unlink"))?.fields ?? {};
    const eve = await localBrowser(await addPerson(stage.service, "Eve"));
    const foreign = await eve.post(`${stage.url}/account/links/unlink`, fields);
    const other = await browser.post(`${stage.url}/account/links/unlink`, {
      ...fields,
      iss: stage.service.issuer,
      sub: ada.sub,
    });
    expect([foreign.text.includes("too old"), other.text.includes("too old")]).toEqual([true, true]);
    const phone = new WebBrowser();
    const own = await signInAt(stage, phone, "person-5", "/account");
    expect(own.text).not.toContain("Remove link");
    expect(await linksOf(ada.userId)).toHaveLength(1);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPerson, password } from "@/test/support/actors";
import {
  answerOf,
  approve,
  ask,
  callback,
  logIn,
  sessionOf,
  signInAt,
  statusOf,
  whoIs,
} from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser, type WebPage } from "@/test/support/web-browser";

// Answers of a provider in the wrong browser, for the wrong flow, twice, changed, or never asked for; and forms from elsewhere.
let stage: Stage;

beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage?.stop());

const own = ["next-auth.state", "next-auth.pkce.code_verifier", "next-auth.nonce", "countersign.flow"] as const;

/** That an answer signed nobody in, changed nobody, and ended on the sign-in page. */
async function expectNobody(browser: WebBrowser, page: WebPage, before?: string): Promise<void> {
  expect([page.status, page.url.startsWith(`${stage.url}/signin?`)]).toEqual([200, true]);
  expect(browser.cookie("countersign.session")).toBe(before);
}

/** A step-up under way in a browser of its own, up to the provider's answer. */
async function stepUpAnswer(login: string) {
  const browser = new WebBrowser();
  await signInAt(stage, browser, login);
  const { id, url } = await ask(stage, { iss: stage.acme, sub: login }, { maxAuthAgeSeconds: 0 });
  const there = await browser.submit(await browser.open(url), "Sign in again with Acme");
  const before = await sessionOf(stage, browser);
  const { url: answer } = await logIn(browser, there, login, callback);
  return { browser, id, url, before, answer };
}

describe("login CSRF: an answer in a browser that did not ask for it", () => {
  it("signs nobody in: not in an empty browser, not in one that is signed in, not in one with its own flow under way", async () => {
    const attacker = new WebBrowser();
    const answer = await answerOf(stage, attacker, "eve");
    const empty = new WebBrowser();
    await expectNobody(empty, await empty.open(answer));
    const signedIn = new WebBrowser();
    await signInAt(stage, signedIn, "ada");
    await expectNobody(signedIn, await signedIn.open(answer), signedIn.cookie("countersign.session"));
    expect(await whoIs(stage, signedIn)).toBe("ada");
    const busy = new WebBrowser();
    const mine = await answerOf(stage, busy, "ada");
    await expectNobody(busy, await busy.open(answer));
    // What was forged disturbed nothing: the own answer still holds.
    await busy.open(mine);
    expect(await whoIs(stage, busy)).toBe("ada");
  });

  it.each(own)("signs nobody in without %s, or with the one of another flow", async (name) => {
    const other = new WebBrowser();
    await answerOf(stage, other, "eve");
    for (const change of [
      (browser: WebBrowser) => browser.drop(name),
      (browser: WebBrowser) => browser.plant(stage.url, name, other.cookie(name) ?? ""),
      (browser: WebBrowser) => browser.plant(stage.url, name, `${browser.cookie(name)?.slice(0, -3)}AAA`),
    ]) {
      const browser = new WebBrowser();
      const answer = await answerOf(stage, browser, "ada");
      change(browser);
      await expectNobody(browser, await browser.open(answer));
    }
  });

  it("signs in as the attacker only who holds all of the attacker's cookies, and then that is the attacker's own flow", async () => {
    // What a sibling subdomain could do to a browser on plain http; the __Host- names of https are there against it.
    const attacker = new WebBrowser();
    const answer = await answerOf(stage, attacker, "eve");
    const victim = new WebBrowser();
    await signInAt(stage, victim, "ada");
    const { id } = await ask(stage, { iss: stage.acme, sub: "ada" });
    for (const name of own) victim.plant(stage.url, name, attacker.cookie(name) ?? "");
    await victim.open(answer);
    expect([await whoIs(stage, victim), await statusOf(stage, id)]).toEqual(["eve", "pending"]);
    expect((await victim.open(`${stage.url}/a/${id}`)).status).toBe(404);
  });

  it.each([
    ["from another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }],
    ["from a sibling", { "sec-fetch-site": "same-site", origin: "http://localhost:1" }],
    ["by an old browser, from another origin", { "sec-fetch-site": "", origin: "https://evil.example" }],
    ["with Origin null", { "sec-fetch-site": "none", origin: "null" }],
  ])("I1: a form %s begins nothing, ends nothing and signs nobody out", async (_from, headers) => {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "ada");
    const page = await browser.open(`${stage.url}/signin`);
    const fields = page.forms.find(({ action }) => action.endsWith("/acme"))?.fields ?? {};
    const before = browser.jar.map((cookie) => ({ ...cookie }));
    for (const [path, more] of [
      ["/api/auth/signin/acme", {}],
      ["/api/auth/signin/acme", { flow: "link" }],
      ["/api/auth/callback/credentials", { email: "x@example.com", password }],
      ["/api/auth/callback/passkey", { answer: "{}" }],
      ["/api/auth/signout", {}],
      ["/account/links/unlink", {}],
      ["/account/sign-in-again/submit", { password }],
    ] as const) {
      const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ""));
      const response = await browser.send("POST", stage.url + path, sent, new URLSearchParams({ ...fields, ...more }));
      expect([path, response.status, response.headers.getSetCookie()]).toEqual([path, 403, []]);
    }
    expect(browser.jar).toEqual(before);
    expect(await whoIs(stage, browser)).toBe("ada");
  });

  it("no GET begins a sign-in, a step-up or a link", async () => {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "ada");
    const before = await stage.service.prisma.signInTransaction.count();
    for (const path of ["signin/acme", "signin/acme?flow=step_up&approval=x", "signin/acme?flow=link", "signout"]) {
      const response = await browser.send("GET", `${stage.url}/api/auth/${path}`);
      expect(response.headers.get("location") ?? "").not.toContain("127.0.0.1");
    }
    expect([await whoIs(stage, browser), await stage.service.prisma.signInTransaction.count()]).toEqual([
      "ada",
      before,
    ]);
  });
});

describe("mix-up: an answer of one provider at the address of another", () => {
  it("RFC 9207: counts only with the issuer that was asked, and once", async () => {
    const changes: [string, (params: URLSearchParams) => void][] = [
      ["another provider's", (params) => params.set("iss", stage.other)],
      ["a look-alike", (params) => params.set("iss", `${stage.acme}/`)],
      ["none", (params) => params.delete("iss")],
      ["two", (params) => params.append("iss", stage.acme)],
      ["two codes", (params) => params.append("code", "x")],
      ["two states", (params) => params.append("state", params.get("state") ?? "")],
      ["another state", (params) => params.set("state", "A".repeat(43))],
      ["an error beside the code", (params) => params.set("error", "login_required")],
    ];
    for (const [name, change] of changes) {
      const browser = new WebBrowser();
      const answer = new URL(await answerOf(stage, browser, "ada"));
      expect(answer.searchParams.get("iss")).toBe(stage.acme);
      change(answer.searchParams);
      const page = await browser.open(answer.href);
      expect([name, page.url.startsWith(`${stage.url}/signin?`), await whoIs(stage, browser)]).toEqual([
        name,
        true,
        undefined,
      ]);
    }
  });

  it("is refused at every other provider's address, with all cookies in place", async () => {
    for (const id of ["pairwise", "forgetful", "closed", "liar", "nobody", "credentials", "passkey"]) {
      const browser = new WebBrowser();
      const answer = new URL(await answerOf(stage, browser, "ada"));
      answer.pathname = `/api/auth/callback/${id}`;
      const page = await browser.open(answer.href);
      expect([id, page.status === 404 || page.url.includes("/signin?"), await whoIs(stage, browser)]).toEqual([
        id,
        true,
        undefined,
      ]);
    }
  });

  it("is refused as a form, as from response_mode=form_post, and as a HEAD nothing is used up", async () => {
    const browser = new WebBrowser();
    const answer = new URL(await answerOf(stage, browser, "ada"));
    const target = `${answer.origin}${answer.pathname}`;
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "cross-site" }]) {
      const response = await browser.send("POST", target, headers, new URLSearchParams(answer.searchParams));
      expect([403, 404]).toContain(response.status);
    }
    expect((await browser.send("HEAD", answer.href)).status).toBe(404);
    await browser.open(answer.href);
    expect(await whoIs(stage, browser)).toBe("ada");
  });
});

describe("an answer used twice, or for something else", () => {
  it("a sign-in's answer counts once, whoever has copied the cookies", async () => {
    const browser = new WebBrowser();
    const answer = await answerOf(stage, browser, "ada");
    const thief = browser.clone();
    await browser.open(answer);
    expect(await whoIs(stage, browser)).toBe("ada");
    await expectNobody(thief, await thief.open(answer));
    const sid = browser.cookie("countersign.session");
    await expectNobody(browser, await browser.open(answer), sid);
  });

  it("a step-up's answer counts once: the transaction is spent, with all cookies of before", async () => {
    const { browser, id, url, answer } = await stepUpAnswer("ada");
    const thief = browser.clone();
    expect((await browser.open(answer)).url).toBe(url);
    await thief.open(answer);
    expect(await whoIs(stage, thief)).toBeUndefined();
    const fresh = await sessionOf(stage, browser);
    await browser.open(answer);
    expect(await sessionOf(stage, browser)).toEqual(fresh);
    await approve(stage, browser, id);
    expect(await statusOf(stage, id)).toBe("accepted");
  });

  it("of two that bring a step-up's answer at the same moment one at most gets the session", async () => {
    const { browser, answer } = await stepUpAnswer("person-6");
    const copies = Array.from({ length: 6 }, () => browser.clone());
    await Promise.all(copies.map((copy) => copy.open(answer)));
    const holding = await Promise.all(copies.map((copy) => sessionOf(stage, copy)));
    expect(holding.filter((session) => session?.stepUpFor !== undefined)).toHaveLength(1);
  });

  it("a step-up's answer steps up nothing without its flow cookie, and is no sign-in either", async () => {
    const { browser, before, answer, id } = await stepUpAnswer("ada");
    browser.drop("countersign.flow");
    expect((await browser.open(answer)).url).toContain("error=flow_used");
    expect([await sessionOf(stage, browser), await statusOf(stage, id)]).toEqual([before, "pending"]);
  });

  it("the flow cookie of one flow does nothing with the answer of another: step-up, sign-in and link, each way", async () => {
    const first = await stepUpAnswer("ada");
    const cookie = first.browser.cookie("countersign.flow") ?? "";
    // The answer of a plain sign-in, dressed up as the step-up.
    const signIn = await answerOf(stage, first.browser, "ada");
    first.browser.plant(stage.url, "countersign.flow", cookie);
    expect((await first.browser.open(signIn)).url).toContain("error=flow_used");
    expect(await sessionOf(stage, first.browser)).toEqual(first.before);
    // That of another approval's step-up, of the same person.
    const second = await stepUpAnswer("ada");
    second.browser.plant(stage.url, "countersign.flow", cookie);
    await second.browser.open(second.answer);
    expect(await sessionOf(stage, second.browser)).toEqual(second.before);
    // And the sign-in's own cookie with the step-up's answer.
    const third = await stepUpAnswer("ada");
    const plain = new WebBrowser();
    await answerOf(stage, plain, "ada");
    third.browser.plant(stage.url, "countersign.flow", plain.cookie("countersign.flow") ?? "");
    await third.browser.open(third.answer);
    expect(await sessionOf(stage, third.browser)).toEqual(third.before);
    for (const { id } of [first, second, third]) expect(await statusOf(stage, id)).toBe("pending");
  });

  it("I17: a row that was written without the secret makes no step-up: it can only refuse one", async () => {
    const { browser, before, answer } = await stepUpAnswer("sleepy");
    const newest = await stage.service.prisma.signInTransaction.findFirstOrThrow({ orderBy: { startedAt: "desc" } });
    // An hour earlier, the sign-in of an hour ago would be fresh.
    await stage.service.prisma.signInTransaction.update({
      where: { id: newest.id },
      data: { startedAt: new Date(newest.startedAt.getTime() - 3_700_000) },
    });
    await browser.open(answer);
    expect(await sessionOf(stage, browser)).toEqual(before);
  });
});

describe("account linking CSRF", () => {
  async function linkAnswer(login: string) {
    const person = await addPerson(stage.service, "Eve");
    const browser = new WebBrowser();
    const page = await browser.open(`${stage.url}/signin?callbackUrl=/account`);
    const account = await browser.submit(page, "Sign in", { email: person.email, password });
    const there = await browser.submit(account, "Link an account of Acme");
    const { url } = await logIn(browser, there, login, callback);
    return { person, browser, answer: url };
  }
  const linksOf = (userId: string) =>
    stage.service.prisma.identity.count({ where: { userId, linkedBy: "self_service" } });

  it("an attacker's answer links the attacker's account to nobody else, with or without the attacker's cookies", async () => {
    const { browser: attacker, answer } = await linkAnswer("person-7");
    const ada = await addPerson(stage.service, "Ada");
    const victim = new WebBrowser();
    const page = await victim.open(`${stage.url}/signin?callbackUrl=/account`);
    await victim.submit(page, "Sign in", { email: ada.email, password });
    const before = await sessionOf(stage, victim);
    await victim.open(answer);
    expect([await linksOf(ada.userId), await sessionOf(stage, victim)]).toEqual([0, before]);
    for (const name of own) victim.plant(stage.url, name, attacker.cookie(name) ?? "");
    const refused = await victim.open(answer);
    expect([refused.text.includes("somebody else signed in"), await linksOf(ada.userId)]).toEqual([true, 0]);
    expect(await sessionOf(stage, victim)).toEqual(before);
  });

  it("a link's form of one session, or for one provider, begins none of another", async () => {
    const person = await addPerson(stage.service, "Ada");
    const browser = new WebBrowser();
    const page = await browser.open(`${stage.url}/signin?callbackUrl=/account`);
    const account = await browser.submit(page, "Sign in", { email: person.email, password });
    const fields = account.forms.find(({ action }) => action.endsWith("/acme"))?.fields ?? {};
    for (const change of [{ csrf: "" }, { csrf: "x" }, { flow: "step_up" }]) {
      const response = await browser.post(`${stage.url}/api/auth/signin/acme`, { ...fields, ...change });
      expect(response.text).toContain("too old");
    }
    const other = await browser.post(`${stage.url}/api/auth/signin/pairwise`, fields);
    expect([other.text.includes("too old"), await linksOf(person.userId)]).toEqual([true, 0]);
  });

  it("a link that was begun counts for nothing once its session is over", async () => {
    const { person, browser, answer } = await linkAnswer("person-8");
    await browser.submit(await browser.open(`${stage.url}/signout`), "Sign out");
    await browser.open(answer);
    expect([await linksOf(person.userId), await whoIs(stage, browser)]).toEqual([0, undefined]);
    // Nor did it sign in, or make a user of, whoever proved themself there.
    expect(await stage.service.prisma.identity.count({ where: { iss: stage.acme, sub: "person-8" } })).toBe(0);
  });
});

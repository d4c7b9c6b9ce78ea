import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPerson, type Person, password } from "@/test/support/actors";
import { approve, ask, logIn, sessionOf, signInAt, statusOf, whoIs } from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser, type WebPage } from "@/test/support/web-browser";

// The wrong person, at every moment at which there can be one: before, during and after the right one, on the same device and on another.
let stage: Stage;
let localAda: Person;
let localEve: Person;

beforeAll(async () => {
  stage = await setStage();
  localAda = await addPerson(stage.service, "Ada");
  localEve = await addPerson(stage.service, "Eve");
});
afterAll(() => stage?.stop());

type Way = {
  name: string;
  ada(): { iss: string; sub: string };
  signIn(b: WebBrowser, who: Who, path: string): Promise<WebPage>;
};
type Who = "ada" | "eve";

const withPassword = async (browser: WebBrowser, who: Who, path: string) => {
  const page = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(path)}`);
  return browser.submit(page, "Sign in", { email: (who === "ada" ? localAda : localEve).email, password });
};
const ways: Way[] = [
  { name: "local accounts", ada: () => localAda, signIn: withPassword },
  {
    name: "accounts of a provider",
    ada: () => ({ iss: stage.acme, sub: "ada" }),
    signIn: async (browser, who, path) => {
      const page = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(path)}`);
      const there = await browser.submit(page, "Continue with Acme");
      // On a shared device the provider may still know the one before: whoever is there now signs in there as themself.
      if (!there.url.startsWith(stage.url)) return logIn(browser, there, who);
      const found = (await whoIs(stage, browser)) === who;
      return found ? there : switchAtProvider(browser, who, path);
    },
  },
];

/** Signs out at the provider and in again as somebody else. */
async function switchAtProvider(browser: WebBrowser, who: Who, path: string): Promise<WebPage> {
  browser.drop("acme_session");
  browser.drop("acme_session.sig");
  const page = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(path)}`);
  return logIn(browser, await browser.submit(page, "Continue with Acme"), who);
}

const secretWords = /Apollo|project_id|delete_project|CRM server/;
const unknownId = "apr_00000000000000000000000000";

describe.each(ways)("with $name", ({ ada, signIn }) => {
  it("I2: before: Eve, signed in, opens Ada's link and sees what an unknown id shows; Ada still decides", async () => {
    const eve = new WebBrowser();
    await signIn(eve, "eve", "/inbox");
    const { id, url } = await ask(stage, ada());
    const page = await eve.open(url);
    const unknown = await eve.open(`${stage.url}/a/${unknownId}`);
    expect([page.status, page.text, secretWords.test(page.html)]).toEqual([404, unknown.text, false]);
    const browser = new WebBrowser();
    const right = await signIn(browser, "ada", `/a/${id}`);
    expect(right.text).toMatch(secretWords);
    await approve(stage, browser, id);
    expect(await statusOf(stage, id)).toBe("accepted");
  });

  it("I2: forwarded: Eve signs in through Ada's link and lands on the page of an unknown id, whichever signs in first", async () => {
    for (const order of [
      ["eve", "ada"],
      ["ada", "eve"],
    ] as const) {
      const { id } = await ask(stage, ada());
      const seen: Record<string, WebPage> = {};
      for (const who of order) seen[who] = await signIn(new WebBrowser(), who, `/a/${id}`);
      expect([seen["eve"]?.status, secretWords.test(seen["eve"]?.html ?? "")]).toEqual([404, false]);
      expect([seen["ada"]?.status, secretWords.test(seen["ada"]?.html ?? "")]).toEqual([200, true]);
      expect(await statusOf(stage, id)).toBe("pending");
    }
  });

  it("I2: on a shared device: Eve first, then Ada by the same browser: the page is Ada's, and Eve's session is over", async () => {
    const browser = new WebBrowser();
    await signIn(browser, "eve", "/inbox");
    const eves = browser.clone();
    const { id, url } = await ask(stage, ada());
    expect((await browser.open(url)).status).toBe(404);
    const page = await signIn(browser, "ada", `/a/${id}`);
    expect([page.url, secretWords.test(page.html)]).toEqual([url, true]);
    expect(await whoIs(stage, eves)).toBeUndefined();
    await approve(stage, browser, id);
    expect(await statusOf(stage, id)).toBe("accepted");
  });

  it("I2: on a shared device: Ada first, then Eve: Ada's open page decides nothing any more, in nobody's name", async () => {
    const browser = new WebBrowser();
    const { id, url } = await ask(stage, ada());
    const open = await signIn(browser, "ada", `/a/${id}`);
    const adas = browser.clone();
    await signIn(browser, "eve", "/inbox");
    const page = await browser.submit(open, "Decline");
    expect([page.status >= 400 || page.text.includes("Nothing here"), await statusOf(stage, id)]).toEqual([
      true,
      "pending",
    ]);
    expect((await browser.open(url)).status).toBe(404);
    // A copy of the page in Ada's own session of before, which ended when Eve took the browser over.
    const copy = await adas.submit(open, "Decline");
    expect([copy.url.startsWith(`${stage.url}/signin?`), await statusOf(stage, id)]).toEqual([true, "pending"]);
  });

  it("after: when Ada has decided, Eve sees as little as before, and Ada's look back stays hers", async () => {
    const browser = new WebBrowser();
    const { id, url } = await ask(stage, ada());
    await signIn(browser, "ada", `/a/${id}`);
    await approve(stage, browser, id);
    const eve = new WebBrowser();
    const page = await signIn(eve, "eve", `/a/${id}`);
    expect([page.status, /approved/i.test(page.text), secretWords.test(page.html)]).toEqual([404, false, false]);
    const fields = { csrf: "x", decision: "decline" };
    for (const form of ["decision", "take-back", "lift-cooldown", "sign-in-again/submit"])
      expect((await eve.post(`${url}/${form}`, fields)).status, form).toBeGreaterThanOrEqual(400);
    expect(await statusOf(stage, id)).toBe("accepted");
    expect((await browser.open(url)).text).toContain("You approved this");
  });

  it("a tab that was left open decides nothing after signing out, and leads to the sign-in", async () => {
    const browser = new WebBrowser();
    const { id, url } = await ask(stage, ada());
    const open = await signIn(browser, "ada", `/a/${id}`);
    const thief = browser.clone();
    const out = await browser.open(`${stage.url}/signout`);
    await browser.submit(out, "Sign out");
    for (const stale of [browser, thief]) {
      const page = await stale.submit(open, "Decline");
      expect(page.url).toBe(`${stage.url}/signin?callbackUrl=${encodeURIComponent(new URL(url).pathname)}`);
    }
    expect([await statusOf(stage, id), await whoIs(stage, thief)]).toEqual(["pending", undefined]);
  });

  it("the sid is another one after each sign-in, so what was planted before it is worth nothing", async () => {
    const attacker = new WebBrowser();
    await signIn(attacker, "eve", "/inbox");
    const planted = attacker.cookie("countersign.session") ?? "";
    const victim = new WebBrowser();
    victim.plant(stage.url, "countersign.session", planted);
    await signIn(victim, "ada", "/inbox");
    const session = await sessionOf(stage, victim);
    expect([session?.sub, victim.cookie("countersign.session") === planted]).toEqual([ada().sub, false]);
    expect(await whoIs(stage, attacker)).toBeUndefined();
    for (const nonsense of ["", "x", `${planted}x`, planted.slice(0, -2)]) {
      victim.plant(stage.url, "countersign.session", nonsense);
      expect(await whoIs(stage, victim)).toBeUndefined();
    }
  });
});

describe("during a step-up at the provider", () => {
  const acme = { iss: "", sub: "ada" };
  async function underWay() {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "ada");
    const { id, url } = await ask(stage, { ...acme, iss: stage.acme }, { maxAuthAgeSeconds: 0 });
    const login = await browser.submit(await browser.open(url), "Sign in again with Acme");
    return { browser, id, url, login, before: await sessionOf(stage, browser) };
  }

  it("Eve signs in on the same browser in another tab: what Ada began does nothing to Eve's session", async () => {
    const { browser, id, login } = await underWay();
    await withPassword(browser, "eve", "/inbox");
    const eves = await sessionOf(stage, browser);
    const page = await logIn(browser, login, "ada");
    expect(page.text).toContain("somebody else signed in");
    expect(await sessionOf(stage, browser)).toEqual(eves);
    expect([eves?.sub, await statusOf(stage, id)]).toEqual([localEve.sub, "pending"]);
  });

  it("Eve signs in at the provider in another tab, in Ada's browser: the step-up that Ada began is nobody's", async () => {
    const { browser, id, login } = await underWay();
    const other = await browser.open(`${stage.url}/signin?callbackUrl=/inbox`);
    const there = await browser.submit(other, "Continue with Pairwise");
    await logIn(browser, there, "eve");
    const eves = await sessionOf(stage, browser);
    expect(eves?.sub).toBe("e-2");
    const late = await logIn(browser, login, "ada");
    expect([late.url.includes("flow_used"), await sessionOf(stage, browser)]).toEqual([true, eves]);
    expect(await statusOf(stage, id)).toBe("pending");
  });

  it("Ada signs out in another tab: the answer signs nobody in again", async () => {
    const { browser, id, login } = await underWay();
    await browser.submit(await browser.open(`${stage.url}/signout`), "Sign out");
    const page = await logIn(browser, login, "ada");
    expect([page.url.includes("error=other_session"), await whoIs(stage, browser)]).toEqual([true, undefined]);
    expect(await statusOf(stage, id)).toBe("pending");
  });

  it("Eve types her own account where Ada was asked: Ada's session stays, and is stepped up by nobody but Ada", async () => {
    const { browser, id, url, login, before } = await underWay();
    const page = await logIn(browser, login, "eve");
    expect([page.url, await sessionOf(stage, browser)]).toEqual([`${url}/sign-in-again`, before]);
    // The provider now has Eve's sign-in. The next step-up asks again all the same.
    const again = await browser.submit(page, "Sign in again with Acme");
    expect(again.text).toMatch(/^Login/);
    await logIn(browser, again, "ada");
    await approve(stage, browser, id);
    expect(await statusOf(stage, id)).toBe("accepted");
  });

  it("Ada finishes it on another device: nobody is signed in there, and nothing is stepped up here", async () => {
    const { browser, id, url, login, before } = await underWay();
    const other = new WebBrowser(browser.jar.filter(({ name }) => name.startsWith("acme_")).map((c) => ({ ...c })));
    const page = await logIn(other, login, "ada");
    expect([page.url.includes("error=flow_used"), await whoIs(stage, other)]).toEqual([true, undefined]);
    expect(await sessionOf(stage, browser)).toEqual(before);
    expect([(await browser.open(url)).url, await statusOf(stage, id)]).toEqual([`${url}/sign-in-again`, "pending"]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addUser } from "@/lib/users/add";
import { disableUser } from "@/lib/users/disable";
import { linkIdentity } from "@/lib/users/link";
import { setRoles } from "@/lib/users/set-roles";
import { addPerson, mintBody, password } from "@/test/support/actors";
import { approve, ask, mcpCallerOf, receiptOf, sessionOf, signInAt, statusOf, whoIs } from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";
import { WebBrowser } from "@/test/support/web-browser";

let stage: Stage;
const actor = { kind: "admin", via: "cli" } as const;

// A real OpenID provider in a process of its own, the built service in another, and browsers without JavaScript.
beforeAll(async () => {
  stage = await setStage();
});
afterAll(() => stage?.stop());

const usersOf = async (iss: string, sub: string) =>
  stage.service.prisma.identity.findMany({ where: { iss, sub }, include: { user: true } });

describe("signing in at a provider", () => {
  it("makes a user at the first sign-in, finds them at the next, and leads to the page that was asked for", async () => {
    const browser = new WebBrowser();
    const page = await signInAt(stage, browser, "ada");
    expect([page.url, page.status, page.text.includes("ada@acme.example")]).toEqual([`${stage.url}/inbox`, 200, true]);
    const first = await sessionOf(stage, browser);
    await signInAt(stage, browser, "ada", "/account");
    const second = await sessionOf(stage, browser);
    expect([second?.userId, second?.sid === first?.sid]).toEqual([first?.userId, false]);
    const [row] = await usersOf(stage.acme, "ada");
    expect(row).toMatchObject({
      linkedBy: "sign_in",
      mayApprove: true,
      user: { email: null, passwordHash: null, contact: "ada@acme.example", name: "Ada Lovelace" },
    });
    const added = await stage.service.prisma.auditEvent.findMany({
      where: { type: "admin.user_added", data: { path: ["userId"], equals: row?.userId ?? "" } },
    });
    expect(added.map(({ actor: who, data }) => [who, data])).toEqual([
      [{ kind: "service" }, { userId: row?.userId, roles: [], provider: "acme" }],
    ]);
  });

  it("of many first sign-ins of one person at the same moment exactly one makes the user", async () => {
    const browsers = Array.from({ length: 6 }, () => new WebBrowser());
    await Promise.all(browsers.map((browser) => signInAt(stage, browser, "person-0")));
    const sessions = await Promise.all(browsers.map((browser) => sessionOf(stage, browser)));
    expect(new Set(sessions.map((session) => session?.userId)).size).toBe(1);
    expect(await stage.service.prisma.user.count({ where: { name: "Person 0" } })).toBe(1);
  });

  it("asks with PKCE, state, nonce and the answer in the query; for every approval's page alike, existing or not", async () => {
    const { id } = await ask(stage, { iss: stage.acme, sub: "ada" });
    const asked = async (to: string) => {
      const browser = new WebBrowser();
      const page = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(to)}`);
      const { url } = await browser.submit(page, "Continue with Acme", {}, { until: /127\.0\.0\.1/ });
      return Object.fromEntries(new URL(url).searchParams);
    };
    const forApproval = await asked(`/a/${id}`);
    expect(forApproval).toEqual({
      client_id: "acme",
      scope: "openid profile email",
      response_type: "code",
      redirect_uri: `${stage.url}/api/auth/callback/acme`,
      response_mode: "query",
      max_age: "900",
      state: expect.stringMatching(/^[\w-]{40,}$/),
      nonce: expect.stringMatching(/^[\w-]{40,}$/),
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: "S256",
    });
    const stable = ({ state: _, nonce: __, code_challenge: ___, ...rest }: Record<string, string>) => rest;
    expect(stable(await asked("/a/apr_00000000000000000000000000"))).toEqual(stable(forApproval));
    expect(stable(await asked("/inbox"))).toEqual({ ...stable(forApproval), max_age: "31536000" });
  });

  it("takes nothing of its own address into what it asks of the provider", async () => {
    const browser = new WebBrowser();
    const page = await browser.open(`${stage.url}/signin`);
    const form = page.forms.find(({ action }) => action.endsWith("/acme"));
    const evil =
      "prompt=none&scope=admin&redirect_uri=https://evil.example&client_id=x&response_mode=form_post&max_age=0";
    const { url } = await browser.post(`${stage.url}/api/auth/signin/acme?${evil}`, form?.fields ?? {}, {
      until: /127\.0\.0\.1/,
    });
    expect(url).not.toMatch(/evil|prompt|form_post|admin/);
    expect(new URL(url).searchParams.get("max_age")).toBe("31536000");
  });

  it("keeps when the person signed in by the provider's word: never later than now, and never fresh where it says nothing", async () => {
    const now = Math.floor(Date.now() / 1000);
    const authTimeOf = async (login: string, label: string) => {
      const browser = new WebBrowser();
      await signInAt(stage, browser, login, "/inbox", label);
      return (await sessionOf(stage, browser))?.authTime ?? -1;
    };
    expect(Math.abs((await authTimeOf("sleepy", "Acme")) - (now - 3_600))).toBeLessThan(60);
    const early = await authTimeOf("early", "Acme");
    expect([early >= now, early <= Date.now() / 1000]).toEqual([true, true]);
    expect(await authTimeOf("ada", "Timeless")).toBe(0);
  });

  it("keeps how the person signed in where that is a list of texts, and nothing where it is not", async () => {
    const amrOf = async (login: string) => {
      const browser = new WebBrowser();
      await signInAt(stage, browser, login);
      return (await sessionOf(stage, browser))?.amr;
    };
    expect([await amrOf("ada"), await amrOf("odd")]).toEqual([["pwd", "mfa"], []]);
  });

  it("I11: shows what a provider calls somebody as one visible line", async () => {
    const browser = new WebBrowser();
    const page = await signInAt(stage, browser, "odd", "/account");
    const [row] = await usersOf(stage.acme, "odd");
    expect([row?.user.name, row?.user.contact]).toEqual(["Admin <b>x</b>", "odd@acme.example"]);
    expect(page.html).not.toContain("<b>x</b>");
  });

  it("refuses whoever has no subject by the configured claim, and a provider that is down, each on one page with a way back", async () => {
    for (const [login, label, words] of [
      ["nameless", "Pairwise", "did not say who you are"],
      ["ada", "Down", "could not be reached"],
      // Signed with another algorithm than the one that is configured (RFC 8725 section 3.1).
      ["ada", "Mismatched", "its answer could not be trusted"],
    ] as const) {
      const browser = new WebBrowser();
      const page = await signInAt(stage, browser, login, "/account", label);
      expect([page.status, page.text.includes(words), await whoIs(stage, browser)]).toEqual([200, true, undefined]);
      expect(page.url.startsWith(`${stage.url}/signin?callbackUrl=%2Faccount&error=`)).toBe(true);
    }
  });

  it("says the same to somebody disabled and to somebody unknown where nobody is added by signing in", async () => {
    const browser = new WebBrowser();
    await signInAt(stage, browser, "person-1");
    const { userId } = (await sessionOf(stage, browser)) ?? { userId: "" };
    await disableUser(stage.service, userId, actor);
    expect(await whoIs(stage, browser)).toBeUndefined();
    const disabled = await signInAt(stage, new WebBrowser(), "person-1");
    const unknown = await signInAt(stage, new WebBrowser(), "person-1", "/inbox", "Closed");
    expect([disabled.text, disabled.url]).toEqual([unknown.text, unknown.url]);
    expect(disabled.text).toContain("has no access here");
    expect(await usersOf("https://closed.example", "person-1")).toEqual([]);
  });

  it("tells a browser that keeps no cookies so, once, and sends it round in no circle", async () => {
    let url = `${stage.url}/signin?callbackUrl=/account`;
    const seen: string[] = [];
    for (let hops = 0; hops < 5; hops += 1) {
      const response = await new WebBrowser().send("GET", url);
      seen.push(`${response.status} ${new URL(url).pathname}`);
      const location = response.headers.get("location");
      if (!location) {
        expect(await response.text()).toContain("This page needs cookies.");
        break;
      }
      url = new URL(location, url).href;
    }
    expect(seen).toEqual(["303 /signin", "303 /api/auth/csrf", "200 /signin"]);
  });

  it("goes back to the sign-in page when the person cancels at the provider", async () => {
    const browser = new WebBrowser();
    const page = await browser.open(`${stage.url}/signin?callbackUrl=/account`);
    const there = await browser.submit(page, "Continue with Acme");
    const back = await browser.submit(there, "Cancel", { login: "ada" });
    expect([back.url, back.text.includes("cancelled or refused")]).toEqual([
      `${stage.url}/signin?callbackUrl=%2Faccount&error=provider_declined`,
      true,
    ]);
  });
});

describe("the caller of an MCP server and the person in the browser", () => {
  it.each([
    ["public", "Acme", () => stage.acme, undefined],
    ["pairwise, mapped by a claim", "Pairwise", () => stage.other, "employee_id"],
  ] as const)("I2: meet for a %s subject: the one who called decides", async (_kind, label, issuer, claim) => {
    const token = await mcpCallerOf(issuer(), "ada");
    const caller = { iss: token.iss, sub: claim ? String(token.claims[claim]) : token.sub };
    const { id, url } = await ask(stage, caller);
    const browser = new WebBrowser();
    const page = await signInAt(stage, browser, "ada", `/a/${id}`, label);
    expect([page.url, page.text.includes("Delete project Apollo")]).toEqual([url, true]);
    const after = await approve(stage, browser, id);
    expect([after.url, await statusOf(stage, id)]).toEqual([url, "accepted"]);
    expect(await receiptOf(stage, id)).toMatchObject({
      sub_id: { format: "iss_sub", ...caller },
      authn: { ...caller, via: "self" },
      caller,
    });
    const consumed = await stage.client.api("POST", `/approvals/${id}/consume`, {
      caller: { ...mintBody(caller).caller },
      actionDigest: (await receiptOf(stage, id))["action_digest"],
      consumerToken: "A".repeat(43),
    });
    expect(consumed.status).toBe(200);
  });

  it("I2: do not meet by a pairwise sub that nobody mapped: it is somebody else's", async () => {
    const token = await mcpCallerOf(stage.other, "ada");
    expect(token.sub).not.toBe("ada");
    const { id } = await ask(stage, { iss: token.iss, sub: token.sub });
    const page = await signInAt(stage, new WebBrowser(), "ada", `/a/${id}`, "Pairwise");
    expect([page.status, page.text.includes("Nothing here for")]).toEqual([404, true]);
  });

  it("I2: meet by an admin's link, and the receipt names both and how", async () => {
    const token = await mcpCallerOf(stage.other, "person-2");
    const caller = { iss: token.iss, sub: token.sub };
    const browser = new WebBrowser();
    await signInAt(stage, browser, "person-2");
    const session = await sessionOf(stage, browser);
    const { id, url } = await ask(stage, caller);
    expect((await browser.open(url)).status).toBe(404);
    await linkIdentity(stage.service, { user: session?.userId ?? "", ...caller }, actor);
    await approve(stage, browser, id);
    expect(await receiptOf(stage, id)).toMatchObject({
      status: "accepted",
      sub_id: caller,
      authn: { iss: stage.acme, sub: "person-2", via: "admin_link" },
    });
  });

  it("the mint answer warns as long as the person never signed in", async () => {
    const caller = { iss: stage.acme, sub: "person-3" };
    const before = await ask(stage, caller);
    await signInAt(stage, new WebBrowser(), "person-3");
    const after = await ask(stage, caller);
    expect([before, after].map((answer) => ("warnings" in answer ? answer.warnings : undefined))).toEqual([
      ["subject_never_signed_in"],
      undefined,
    ]);
  });
});

describe("taking over an account", () => {
  it("I2: an address joins nobody to anybody: whoever claims that of a local account is another user", async () => {
    const { userId } = await addUser(
      stage.service,
      { email: "ada@acme.example", name: "Ada Lovelace", password },
      actor,
    );
    const { id } = await ask(stage, { iss: stage.service.issuer, sub: userId });
    const browser = new WebBrowser();
    const page = await signInAt(stage, browser, "mallory", `/a/${id}`);
    const session = await sessionOf(stage, browser);
    expect([page.status, session?.sub, session?.userId === userId]).toEqual([404, "mallory", false]);
    const [ada] = await usersOf(stage.acme, "ada");
    expect(session?.userId).not.toBe(ada?.userId);
  });

  it("a provider whose tokens say that another one made them signs in nobody", async () => {
    const browser = new WebBrowser();
    const page = await signInAt(stage, browser, "ada", "/inbox", "Liar");
    expect([page.url.includes("error=claims"), await whoIs(stage, browser)]).toEqual([true, undefined]);
    expect(await usersOf(stage.liar, "ada")).toEqual([]);
  });

  it("a role comes from a claim where the provider is marked for it, goes with it, and never touches an admin", async () => {
    const rolesOf = async (login: string, label = "Acme") => {
      const browser = new WebBrowser();
      await signInAt(stage, browser, login, "/inbox", label);
      return sessionOf(stage, browser);
    };
    expect((await rolesOf("iris"))?.roles).toEqual(["auditor"]);
    expect((await rolesOf("iris", "Pairwise"))?.roles).toEqual([]);
    const person = await rolesOf("person-4");
    const user = person?.userId ?? "";
    await setRoles(stage.service, { user, roles: ["auditor"] }, actor);
    expect((await rolesOf("person-4"))?.roles).toEqual([]);
    await setRoles(stage.service, { user, roles: ["admin"] }, actor);
    expect((await rolesOf("person-4"))?.roles).toEqual(["admin"]);
    const iris = (await rolesOf("iris"))?.userId ?? "";
    await setRoles(stage.service, { user: iris, roles: ["admin"] }, actor);
    expect((await rolesOf("iris"))?.roles).toEqual(["admin"]);
  });

  it("a local account keeps signing in with its password beside them, and is told apart", async () => {
    const bob = await addPerson(stage.service, "Bob");
    const browser = new WebBrowser();
    const page = await browser.open(`${stage.url}/signin?callbackUrl=/account`);
    const wrong = await browser.submit(page, "Sign in", { email: bob.email, password: "wrong password entirely" });
    expect([wrong.url, wrong.text.includes("Email or password is not right.")]).toEqual([
      `${stage.url}/signin?callbackUrl=%2Faccount&error=wrong`,
      true,
    ]);
    const right = await browser.submit(wrong, "Sign in", { email: bob.email, password });
    expect([right.url, await whoIs(stage, browser)]).toEqual([`${stage.url}/account`, bob.sub]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { post as accountStepUp } from "@/app/account/sign-in-again/submit/post";
import { authOptions } from "@/app/api/auth/[...nextauth]/options";
import { GET, HEAD, POST } from "@/app/api/auth/[...nextauth]/route";
import { setService } from "@/lib/process";
import { readFlash, stepUpTarget } from "@/lib/requests/flash";
import { signInErrorOf, signInPage } from "@/lib/requests/sign-in-page";
import { csrfToken } from "@/lib/sessions/csrf";
import { readSession } from "@/lib/sessions/read";
import { addPerson, password, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;
beforeAll(async () => {
  t = await createTestService();
  setService(t.service);
});
afterAll(() => t.stop());

type Authorize = (credentials: object, request: object) => Promise<unknown>;

describe("signing in with a password", () => {
  it("says how long to wait after too many attempts, and nothing else of why", async () => {
    const ada = await addPerson(t.service);
    const [local] = authOptions(t.service).providers;
    const { authorize } = (local as unknown as { options: { authorize: Authorize } }).options;
    const attempt = () =>
      authorize(
        { email: ada.email, password: "wrong password entirely" },
        { headers: { "x-forwarded-for": "203.0.113.7" } },
      ).catch((error: Error) => error.message);
    const answers: unknown[] = [];
    while (answers.length < 30 && typeof answers.at(-1) !== "string") answers.push(await attempt());
    expect(answers.slice(0, -1).every((answer) => answer === null)).toBe(true);
    expect(answers.at(-1)).toMatch(/^throttled:[1-9]\d*$/);
  });

  it("is said in the address of the sign-in page by words of ours alone", () => {
    expect(signInPage("/a/apr_0", "throttled", 30)).toBe("/signin?callbackUrl=%2Fa%2Fapr_0&error=throttled&seconds=30");
    expect(signInPage("https://evil.example")).toBe("/signin?callbackUrl=%2Finbox");
    expect(["CredentialsSignin", "throttled", "unavailable"].map(signInErrorOf)).toEqual([
      "wrong",
      "throttled",
      "unavailable",
    ]);
    for (const other of ["Configuration", "", "toString", "__proto__", "<b>", "connect ECONNREFUSED 10.0.0.7"])
      expect(signInErrorOf(other)).toBe("failed");
  });
});

describe("the step-up of the account page by password", () => {
  async function submit(fields: Record<string, string>, change: { authTime?: number } = {}) {
    const ada = await addPerson(t.service);
    const { session, cookie } = await signIn(t.service, ada, change);
    const csrf = csrfToken(t.service.secrets, { sid: session.sid, purpose: "step_up", target: "account" });
    const response = await accountStepUp(
      new Request("http://localhost:3000/account/sign-in-again/submit", {
        method: "POST",
        headers: { cookie, "sec-fetch-site": "same-origin", "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ csrf, to: "/account", password, ...fields }),
      }),
    );
    const set = (response.headers.get("set-cookie") ?? "").split(";")[0] ?? "";
    return {
      session,
      cookie,
      response,
      location: response.headers.get("location"),
      headers: new Headers({ cookie: set }),
    };
  }

  it("gives a fresh session in the place of the old one, and leads on", async () => {
    const { session, cookie, location, headers } = await submit({}, { authTime: 1 });
    const fresh = await readSession(t.service, headers);
    expect([location, fresh?.userId, fresh?.stepUpFor]).toEqual(["/account", session.userId, "account"]);
    expect((fresh?.authTime ?? 0) > Date.now() / 1000 - 60).toBe(true);
    expect(await readSession(t.service, new Headers({ cookie }))).toBeUndefined();
  });

  it("leads nowhere but to our own pages", async () => {
    for (const to of ["https://evil.example", "//evil.example", "javascript:alert(1)"])
      expect((await submit({ to })).location).toBe("/inbox");
    expect((await submit({ to: "/admin/people" })).location).toBe("/admin/people");
  });

  it.each([
    ["a wrong password", { password: "wrong password entirely" }, "wrong_password"],
    ["a token that is missing", { csrf: "" }, "stale_form"],
    ["a token for something else", { csrf: "AAAA" }, "stale_form"],
  ])("with %s changes no session, and the page says why", async (_what, fields, notice) => {
    const { session, cookie, location, headers } = await submit(fields);
    expect(location).toBe("/account/sign-in-again?to=%2Faccount");
    const said = await readFlash(t.service, headers, { sid: session.sid, target: stepUpTarget("account") });
    expect(said?.notice).toBe(notice);
    expect(await readSession(t.service, new Headers({ cookie }))).toEqual(session);
  });
});

describe("next-auth's routes", () => {
  const at = (...nextauth: string[]) => ({ params: Promise.resolve({ nextauth }) });
  const asked = (method: string) =>
    new Request("http://localhost:3000/api/auth/x", { method, headers: { "sec-fetch-site": "same-origin" } }) as never;

  it("answer nothing that we do not need", async () => {
    for (const path of [["providers"], ["verify-request"], ["signin", "nobody"], ["callback", "credentials"], ["x"]])
      expect((await GET(asked("GET"), at(...path))).status).toBe(404);
    for (const path of [["session"], ["_log"], ["csrf"], ["signin", "nobody"], ["signin"], ["x"]])
      expect((await POST(asked("POST"), at(...path))).status).toBe(404);
    expect(HEAD().status).toBe(404);
  });
});

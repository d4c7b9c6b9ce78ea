import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { POST as auth } from "@/app/api/auth/[...nextauth]/route";
import { POST as locale } from "@/app/locale/route";
import { setService } from "@/lib/process";
import { clearFlash, flashCookie, readFlash } from "@/lib/requests/flash";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;
beforeAll(async () => {
  t = await createTestService();
  setService(t.service);
});
afterAll(() => t.stop());
afterEach(() => vi.useRealTimers());

const form = (headers: Record<string, string>, fields: Record<string, string> = {}) =>
  new Request("http://localhost:3000/", {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: new URLSearchParams(fields),
  });

const foreign: Record<string, string>[] = [
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { "sec-fetch-site": "none" },
  { origin: "null" },
  { origin: "https://evil.example" },
  {},
];

describe("signing in and out", () => {
  it("is refused from anywhere but our own pages, before next-auth looks at its own token (I1)", async () => {
    for (const nextauth of [["callback", "credentials"], ["signout"], ["signin", "credentials"]])
      for (const headers of foreign) {
        const response = await auth(form(headers) as never, { params: Promise.resolve({ nextauth }) });
        expect([response.status, response.headers.getSetCookie()]).toEqual([403, []]);
      }
  });

  it("lets no page write into the log", async () => {
    const response = await auth(
      form({ "sec-fetch-site": "same-origin" }, { level: "error", code: "forged" }) as never,
      {
        params: Promise.resolve({ nextauth: ["_log"] }),
      },
    );
    expect(response.status).toBe(404);
  });
});

describe("the choice of language", () => {
  it("is kept for a year and leads back to a page of ours, whatever the form says", async () => {
    for (const [to, location] of [
      ["/a/apr_0", "/a/apr_0"],
      ["https://evil.example/", "/inbox"],
      ["//evil.example", "/inbox"],
    ] as const) {
      const response = await locale(form({ "sec-fetch-site": "same-origin" }, { locale: "ja", to }));
      expect([response.status, response.headers.get("location")]).toEqual([303, location]);
      expect(response.headers.get("set-cookie")).toMatch(/^countersign\.locale=ja; .*SameSite=Lax; HttpOnly$/);
    }
  });

  it("is refused from elsewhere, as anything but a form, and in a body without end", async () => {
    for (const headers of foreign) expect((await locale(form(headers, { locale: "ja" }))).status).toBe(403);
    const own = { "sec-fetch-site": "same-origin" };
    expect((await locale(form({ ...own, "content-type": "application/json" }))).status).toBe(415);
    expect((await locale(form(own, { to: `/${"x".repeat(70_000)}` }))).status).toBe(415);
  });
});

describe("the notice for the next page", () => {
  const binding = { sid: "ses_a", target: "apr_00000000000000000000000000" };
  const cookieOf = async (note: string) =>
    (await flashCookie(t.service, binding, { notice: "note_too_long", note })).split(";")[0] ?? "";
  const read = (cookie: string) => readFlash(t.service, new Headers({ cookie }), binding);

  it("fits a cookie whatever was typed, and a note of the allowed length comes back whole", async () => {
    for (const character of ["x", "あ", "😀", '"', "\t"]) {
      const note = character.repeat(500);
      const cookie = await cookieOf(note);
      expect([cookie.length <= 4_000, await read(cookie)]).toEqual([true, { notice: "note_too_long", note }]);
    }
    for (const note of ["あ".repeat(2_000), "😀".repeat(1_000), "\u0001".repeat(2_000)]) {
      const cookie = await cookieOf(note);
      const flash = await read(cookie);
      expect(cookie.length).toBeLessThanOrEqual(4_000);
      expect([flash?.notice, note.startsWith(flash?.note ?? "-"), /\p{Cs}/u.test(flash?.note ?? "")]).toEqual([
        "note_too_long",
        true,
        false,
      ]);
    }
  });

  it("is nothing when it was changed, cut, made under another secret, or is older than two minutes", async () => {
    const cookie = await cookieOf("kept");
    const [name = "", value = ""] = cookie.split("=");
    const parts = value.split(".");
    const broken = [
      value.slice(0, -2),
      [...parts.slice(0, 4), "AAAAAAAAAAAAAAAAAAAAAA"].join("."),
      [Buffer.from('{"alg":"none"}').toString("base64url"), ...parts.slice(1)].join("."),
      "nonsense",
      "",
    ];
    for (const wrong of broken) expect(await read(`${name}=${wrong}`)).toBeUndefined();
    const other = await createTestService();
    expect(await readFlash(other.service, new Headers({ cookie }), binding)).toBeUndefined();
    await other.stop();
    expect((await read(cookie))?.note).toBe("kept");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 121_000 });
    expect(await read(cookie)).toBeUndefined();
  });

  it("is kept by the browser for two minutes, and counts for just as long where it is kept for longer", async () => {
    const at = Date.now();
    vi.useFakeTimers({ toFake: ["Date"], now: at });
    const set = await flashCookie(t.service, binding, { notice: "choose", note: "" });
    expect(set).toMatch(/^countersign\.flash=[^;]+; Path=\/a\/; Max-Age=120; HttpOnly; SameSite=Lax$/);
    const cookie = set.split(";")[0] ?? "";
    vi.setSystemTime(at + 120_000);
    expect(await read(cookie)).toMatchObject({ notice: "choose" });
    vi.setSystemTime(at + 120_001);
    expect(await read(cookie)).toBeUndefined();
  });

  it("is sent on https alone where the service is, and only to the pages that say it", async () => {
    const https = { ...t.service, config: { ...t.service.config, url: "https://approve.example.com" } };
    for (const [target, path] of [
      [binding.target, "/a/"],
      ["account:links", "/account"],
    ] as const) {
      const set = await flashCookie(https, { ...binding, target }, { notice: "choose", note: "" });
      expect(set).toMatch(/; HttpOnly; SameSite=Lax; Secure$/);
      expect(set).toContain(`; Path=${path}; Max-Age=120;`);
    }
    expect(clearFlash(https)).toBe("countersign.flash=; Path=/a/; Max-Age=0; HttpOnly; SameSite=Lax; Secure");
  });
});

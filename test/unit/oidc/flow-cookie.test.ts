import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Service } from "@/lib/process";
import { deriveSecrets } from "@/lib/secrets/derive";
import { clearFlow, flowCookie, readFlow } from "@/lib/sessions/flow-cookie";

afterEach(() => vi.useRealTimers());

const serviceAt = (url: string, secrets = deriveSecrets(randomBytes(32))) =>
  ({ config: { url }, secrets }) as unknown as Service;
const flow = { provider: "acme", state: "s".repeat(43), to: "/a/apr_0", back: "/a/apr_0/sign-in-again" };
const headersOf = (cookie: string) => new Headers({ cookie: cookie.split(";")[0] ?? "" });

describe("the cookie of a flow", () => {
  it("opens to what was put into it, for this service alone, whole, and for ten minutes", async () => {
    const service = serviceAt("http://localhost:3000");
    const cookie = await flowCookie(service, flow);
    expect(await readFlow(service, headersOf(cookie))).toMatchObject(flow);
    const [pair = ""] = cookie.split(";");
    for (const broken of [
      pair.slice(0, -2),
      `${pair}x`,
      pair.replace("=", "=x"),
      "countersign.flow=",
      "countersign.flow=x",
    ])
      expect(await readFlow(service, headersOf(broken))).toBeUndefined();
    expect(await readFlow(service, new Headers({ cookie: `${pair}; ${pair}` }))).toBeUndefined();
    expect(await readFlow(serviceAt("http://localhost:3000"), headersOf(cookie))).toBeUndefined();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 601_000 });
    expect(await readFlow(service, headersOf(cookie))).toBeUndefined();
  });

  it("opens during a rotation of the secret too", async () => {
    const [old, next] = [randomBytes(32), randomBytes(32)];
    const cookie = await flowCookie(serviceAt("http://localhost:3000", deriveSecrets(old)), flow);
    const rotated = serviceAt("http://localhost:3000", deriveSecrets(next, old));
    expect(await readFlow(rotated, headersOf(cookie))).toMatchObject(flow);
  });

  it("tells its holder nothing, and on https no other host can set it", async () => {
    const cookie = await flowCookie(serviceAt("https://approve.example.com"), flow);
    expect(cookie).toMatch(
      /^__Host-countersign\.flow=eyJ[\w-]+\.\.[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(cookie).not.toContain("acme");
    expect(clearFlow(serviceAt("https://approve.example.com"))).toBe(
      "__Host-countersign.flow=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure",
    );
  });
});

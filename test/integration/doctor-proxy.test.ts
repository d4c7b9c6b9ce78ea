import { BlockList } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { checkForwarded } from "@/lib/doctor/forwarded";
import { checkPageHeaders } from "@/lib/doctor/page-headers";
import { checkParkedWait } from "@/lib/doctor/parked-wait";
import { checkRunning } from "@/lib/doctor/running";
import { withScratch } from "@/lib/doctor/scratch";
import { createTestService, type TestService } from "@/test/support/database";
import { type Front, type Meddling, startFront } from "@/test/support/doctor-stage";

const actor = { kind: "admin", via: "cli" } as const;
const url = "https://approve.example.com";

let t: TestService;
let other: TestService;
let fronts: Front[] = [];

beforeAll(async () => {
  t = await createTestService({ url });
  other = await createTestService({ url: "https://elsewhere.example.com" });
});
afterAll(async () => {
  await t.stop();
  await other.stop();
});
afterEach(async () => {
  await Promise.all(fronts.map((front) => front.stop()));
  fronts = [];
});

async function frontOf(service = t.service, meddle?: Meddling): Promise<string> {
  const front = await startFront(service, meddle);
  fronts.push(front);
  return front.url;
}

/** Lets a header be rewritten on its way to the browser; `undefined` drops it. */
const rewriting =
  (name: string, to: string | undefined): Meddling =>
  (_request, response) => {
    const writeHead = response.writeHead.bind(response);
    response.writeHead = ((status: number, headers: Record<string, string>) => {
      const changed = Object.fromEntries(Object.entries(headers).filter(([key]) => key.toLowerCase() !== name));
      return writeHead(status, to === undefined ? changed : { ...changed, [name]: to });
    }) as typeof response.writeHead;
    return false;
  };

describe("the running service", () => {
  it("is found in order where it is this deployment", async () => {
    expect(await checkRunning(await frontOf(), t.service.config, t.service)).toMatchObject({ status: "ok" });
  });

  it("is told apart from another deployment: by its issuer, its addresses and its keys", async () => {
    const { status, message } = await checkRunning(await frontOf(other.service), t.service.config, t.service);
    expect(status).toBe("failed");
    expect(message).toMatch(/its issuer is https:\/\/elsewhere.example.com, not https:\/\/approve.example.com/);
    expect(message).toMatch(/gives out other addresses/);
    expect(message).toMatch(/does not publish the key/);
  });

  it("that is not ready fails with the name of what is not; whatever is no Countersign is said to be that", async () => {
    const draining = await createTestService({ url, databaseUrl: t.databaseUrl, secret: t.service.config.secret });
    draining.service.draining.begin();
    expect(await checkRunning(await frontOf(draining.service), t.service.config, t.service)).toMatchObject({
      status: "failed",
      message: expect.stringContaining("not ready (503): draining"),
    });
    await draining.stop();
    const parked = await frontOf(t.service, (_, response) => {
      response.end("<h1>It works!</h1>");
      return true;
    });
    expect(await checkRunning(parked, t.service.config, t.service)).toMatchObject({
      status: "failed",
      message: expect.stringContaining("Something else than Countersign answers"),
    });
  });

  it("that is not there is told with its address", async () => {
    const front = await startFront(t.service);
    await front.stop();
    for (const check of [
      await checkRunning(front.url, t.service.config, t.service),
      await checkPageHeaders(front.url, t.service.config),
    ])
      expect(check).toMatchObject({
        status: "failed",
        message: expect.stringContaining(`Nothing answers at ${front.url}`),
      });
  });
});

describe("the headers of a page", () => {
  it("pass where they arrive as they were sent", async () => {
    expect(await checkPageHeaders(await frontOf(), t.service.config)).toMatchObject({ status: "ok" });
    const longer = rewriting("cache-control", "private, no-cache, no-store, max-age=0");
    expect(await checkPageHeaders(await frontOf(t.service, longer), t.service.config)).toMatchObject({ status: "ok" });
  });

  it.each([
    ["strict-transport-security", undefined, /Strict-Transport-Security does not arrive/],
    ["strict-transport-security", "max-age=0", /arrives as "max-age=0"/],
    ["x-frame-options", "SAMEORIGIN", /X-Frame-Options arrives as "SAMEORIGIN"/],
    ["referrer-policy", "no-referrer", /Referrer-Policy arrives as "no-referrer"/],
    ["cache-control", "public, max-age=60", /Cache-Control arrives/],
    ["content-security-policy", undefined, /Content-Security-Policy arrives not at all/],
    ["content-security-policy", "default-src 'self' 'nonce-x'", /Content-Security-Policy arrives changed/],
  ])("fail where %s becomes %s", async (name, to, words) => {
    const check = await checkPageHeaders(await frontOf(t.service, rewriting(name, to)), t.service.config);
    expect(check).toMatchObject({ status: "failed", message: expect.stringMatching(words) });
  });

  it("fail where two requests get one page, nonce and all", async () => {
    const direct = await checkedHeaders();
    const cached = await frontOf(t.service, (request, response) => {
      if (request.url !== "/signin") return false;
      response.writeHead(200, direct).end("cached");
      return true;
    });
    expect(await checkPageHeaders(cached, t.service.config)).toMatchObject({
      status: "failed",
      message: expect.stringContaining("caches it"),
    });
  });
});

async function checkedHeaders(): Promise<Record<string, string>> {
  const response = await fetch(`${await frontOf()}/signin`);
  return Object.fromEntries(response.headers);
}

describe("visitors' addresses", () => {
  const counts = async () => (await t.service.pool.query(`SELECT count(*)::int AS "n" FROM "throttle"`)).rows[0].n;

  it("a header that was made up is not believed from a socket that is no proxy, and no count is left of it", async () => {
    expect(await checkForwarded(t.service, await frontOf())).toMatchObject({ status: "ok" });
    expect(await counts()).toBe(0);
  });

  it("warns where it is believed: a trusted proxy passes on what it was sent", async () => {
    const trustedProxies = new BlockList();
    trustedProxies.addAddress("127.0.0.1", "ipv4");
    const trusting = { ...t.service, config: { ...t.service.config, trustedProxies } };
    expect(await checkForwarded(t.service, await frontOf(trusting))).toMatchObject({
      status: "warning",
      message: expect.stringContaining("was believed"),
    });
    expect(await counts()).toBe(0);
  });

  it("warns where everybody has the address of a proxy on the same machine", async () => {
    // Another name of this machine than those of loopback, as that of a proxy on it is: who comes by it comes from 127.0.0.1.
    const front = await startFront(t.service, undefined, "127.0.0.2");
    fronts.push(front);
    expect(await checkForwarded(t.service, front.url)).toMatchObject({
      status: "warning",
      message: expect.stringContaining("address of a proxy on the service's machine"),
    });
    expect(await counts()).toBe(0);
  });
});

describe("a parked wait", () => {
  const parked = (front: string) =>
    withScratch(t.service, actor, (scratch) => checkParkedWait(t.service, scratch, front, 2));

  it("passes where it is held and woken", async () => {
    expect(await parked(await frontOf())).toMatchObject({ status: "ok" });
  });

  it("fails where a proxy cuts it", async () => {
    const cutting = await frontOf(t.service, (request, response) => {
      if (!request.url?.includes("wait=")) return false;
      response.writeHead(504).end();
      return true;
    });
    const { status, message } = await parked(cutting);
    expect(status).toBe("failed");
    expect(message).toMatch(/A wait of 2 s ended after 0 s with 504/);
    expect(message).toMatch(/must not hold answers back/);
  });

  it("says where the API is not at the address, or is another deployment's", async () => {
    const none = await frontOf(t.service, (_, response) => {
      response.writeHead(404).end();
      return true;
    });
    expect((await parked(none)).message).toMatch(/The API is not at/);
    expect((await parked(await frontOf(other.service))).message).toMatch(/another deployment answers there/);
  });
});

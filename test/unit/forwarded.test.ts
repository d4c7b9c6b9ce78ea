import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, BlockList } from "node:net";
import { describe, expect, it } from "vitest";
import { clientAddress, trustForwarded, warnOfIgnored } from "@/lib/requests/forwarded";
import { isSameOrigin } from "@/lib/requests/same-origin";

const proxies = new BlockList();
proxies.addSubnet("10.0.0.0", 8, "ipv4");
proxies.addSubnet("fd00::", 8, "ipv6");

describe("where a request came from", () => {
  it.each([
    ["198.51.100.7", "203.0.113.9", "198.51.100.7", "a stranger's header is not believed"],
    ["10.0.0.1", "203.0.113.9", "203.0.113.9", "a trusted proxy's is"],
    ["::ffff:10.0.0.1", "203.0.113.9, 10.0.0.2", "203.0.113.9", "through two proxies"],
    ["10.0.0.1", "1.1.1.1, 203.0.113.9", "203.0.113.9", "what a client put in front is not believed"],
    ["10.0.0.1", "nonsense", "10.0.0.1", "what is no address is not one"],
    ["fd00::1", "2001:db8::5", "2001:db8::5", "IPv6"],
  ])("%s with %s is %s: %s", (socket, header, expected) => {
    expect(clientAddress(socket, header, proxies)).toBe(expected);
  });
});

describe("what a request says of where it came from", () => {
  it("is one address, in the parsed and in the raw headers, whatever was sent", async () => {
    const seen: [unknown, string[]][] = [];
    const server = createServer((request, response) => {
      trustForwarded(request, new BlockList());
      seen.push([
        request.headers["x-forwarded-for"],
        request.rawHeaders.filter((_, i, raw) => /forwarded/i.test(raw[i - (i % 2)] ?? "")),
      ]);
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    await fetch(`http://127.0.0.1:${port}/`, {
      headers: { "x-forwarded-for": "203.0.113.66", "x-forwarded-host": "evil.example", forwarded: "for=evil" },
    });
    server.close();
    expect(seen).toEqual([["127.0.0.1", ["X-Forwarded-For", "127.0.0.1"]]]);
  });
});

describe("a proxy that nobody named in TRUSTED_PROXIES", () => {
  const told: [object, string][] = [];
  const log = { warn: (fields: object, text: string) => told.push([fields, text]) };

  async function ask(trusted: BlockList, headers: Record<string, string>): Promise<void> {
    const onIgnored = warnOfIgnored(log as never);
    const server = createServer((request, response) => {
      trustForwarded(request, trusted, onIgnored);
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    for (let i = 0; i < 3; i += 1) await fetch(`http://127.0.0.1:${port}/`, { headers });
    server.close();
  }

  it("is told to the operator once; a trusted one, or a request without the header, is not", async () => {
    const trusted = new BlockList();
    trusted.addAddress("127.0.0.1");
    await ask(trusted, { "x-forwarded-for": "203.0.113.66" });
    await ask(new BlockList(), {});
    expect(told).toEqual([]);
    await ask(new BlockList(), { "x-forwarded-for": "203.0.113.66" });
    expect(told).toEqual([[{ socketAddress: "127.0.0.1" }, expect.stringContaining("TRUSTED_PROXIES")]]);
  });
});

describe("I1: same origin", () => {
  const url = "https://approve.example.com";
  it.each([
    [{ "sec-fetch-site": "same-origin" }, true],
    [{ "sec-fetch-site": "same-origin", origin: "null" }, true],
    [{ origin: url }, true],
    [{}, false],
    [{ origin: "null" }, false],
    [{ origin: "https://approve.example.com.evil.example" }, false],
    [{ origin: "http://approve.example.com" }, false],
    [{ "sec-fetch-site": "same-site", origin: url }, false],
    [{ "sec-fetch-site": "cross-site", origin: url }, false],
    [{ "sec-fetch-site": "none", origin: url }, false],
    [{ "sec-fetch-site": "" }, false],
  ])("%j → %s", (headers, expected) => {
    expect(isSameOrigin(new Headers(headers as Record<string, string>), url)).toBe(expected);
  });
});

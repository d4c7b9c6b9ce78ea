import { describe, expect, it } from "vitest";
import { judgeOutbound } from "@/lib/outbound/judge";
import { type OutboundPolicy, parseOutboundAllow } from "@/lib/outbound/policy";
import { type OutboundRequest, requestOutbound } from "@/lib/outbound/request";
import type { Resolve } from "@/lib/outbound/resolve";
import { hooksCertificate, receiveHttp, receiveHttps } from "./receivers";

const policyOf = (allow = ""): OutboundPolicy => parseOutboundAllow(allow).policy;
const post = (url: string): OutboundRequest => ({ url, method: "POST", body: "{}", timeoutMs: 5_000, maxBytes: 1_000 });
const resolving = (...addresses: string[]): Resolve => {
  return async () => addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
};

describe("a request to a host that is not public", () => {
  it.each([
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
    "localhost",
  ])("never connects: %s", async (host) => {
    const receiver = await receiveHttp((_, response) => response.end());
    await expect(requestOutbound(policyOf(), post(`https://${host}:${receiver.port}/`))).rejects.toMatchObject({
      code: "address_refused",
    });
    await expect(requestOutbound(policyOf(), post(`http://${host}:${receiver.port}/`))).rejects.toMatchObject({
      code: "url_refused",
    });
    expect(receiver.connections).toBe(0);
  });

  it("never connects to a name that was public when it was added and is this machine when it is called", async () => {
    const receiver = await receiveHttps((_, response) => response.end());
    const answers = ["93.184.216.34", "127.0.0.1"];
    const rebinding: Resolve = async () => [{ address: answers.shift() ?? "127.0.0.1", family: 4 }];
    const url = `https://hooks.example:${receiver.port}/`;
    expect(await judgeOutbound(policyOf(), url, { resolve: rebinding })).toBeUndefined();
    await expect(
      requestOutbound(policyOf(), post(url), { resolve: rebinding, ca: hooksCertificate }),
    ).rejects.toMatchObject({ code: "address_refused" });
    expect(answers).toEqual([]);
    expect(receiver.connections).toBe(0);
  });

  it("connects to the address that was judged, where the name has another one a moment later", async () => {
    const judged = await receiveHttp((_, response) => response.end());
    const later = await receiveHttp((_, response) => response.end(), { host: "127.0.0.2", port: judged.port });
    let asked = 0;
    const rebinding: Resolve = async () => {
      asked += 1;
      return [{ address: asked === 1 ? "127.0.0.1" : "127.0.0.2", family: 4 }];
    };
    await requestOutbound(policyOf("hooks.example"), post(`http://hooks.example:${judged.port}/`), {
      resolve: rebinding,
    });
    expect({ asked, judged: judged.requests, later: later.connections }).toEqual({
      asked: 1,
      judged: ["POST / {}"],
      later: 0,
    });
  });

  it("never connects to the public one of two addresses either, in whatever order they come", async () => {
    const receiver = await receiveHttps((_, response) => response.end());
    const url = `https://half.example:${receiver.port}/`;
    for (const addresses of [
      ["93.184.216.34", "127.0.0.1"],
      ["127.0.0.1", "93.184.216.34"],
    ])
      await expect(requestOutbound(policyOf(), post(url), { resolve: resolving(...addresses) })).rejects.toMatchObject({
        code: "address_refused",
      });
    expect(receiver.connections).toBe(0);
  });

  it("sends nothing where the connection leads elsewhere than to the address that was judged", async () => {
    const receiver = await receiveHttp((_, response) => response.end());
    // The system connects 0.0.0.0 to 127.0.0.1, which nobody allowed.
    await expect(requestOutbound(policyOf("0.0.0.0"), post(`http://0.0.0.0:${receiver.port}/`))).rejects.toMatchObject({
      code: "address_refused",
    });
    await receiver.closed();
    expect([receiver.connections, receiver.requests]).toEqual([1, []]);
  });

  it("does not resolve, or says so of a name that has no address", async () => {
    const failing: Resolve = async () => Promise.reject(new Error("getaddrinfo ENOTFOUND"));
    for (const resolve of [failing, resolving()])
      await expect(requestOutbound(policyOf(), post("https://nowhere.example/"), { resolve })).rejects.toMatchObject({
        code: "dns_failed",
      });
  });

  it.each(["nonsense", "ftp://hooks.example/", "https://user:word@hooks.example/", "https://[fe80::1%25eth0]/"])(
    "is refused for its URL: %s",
    async (url) => {
      await expect(
        requestOutbound(policyOf("hooks.example"), post(url), { resolve: resolving("93.184.216.34") }),
      ).rejects.toMatchObject({ code: "url_refused" });
    },
  );
});

describe("a request to a host that the operator allows", () => {
  it.each([
    ["by name", "hooks.internal"],
    ["by name and port", (port: number) => `hooks.internal:${port}`],
    ["by range", "127.0.0.0/8"],
    ["by address", "127.0.0.1"],
    ["by address and port", (port: number) => `127.0.0.1:${port}`],
  ])("reaches it %s, with its method, headers and body", async (_, allow) => {
    const receiver = await receiveHttp((request, response) => {
      const {
        host,
        "content-type": type,
        "accept-encoding": encoding,
        connection,
        "content-length": length,
      } = request.headers;
      response.writeHead(202, { "x-seen": JSON.stringify([host, type, encoding, connection, length]) }).end("thanks");
    });
    const answer = await requestOutbound(
      policyOf(typeof allow === "string" ? allow : allow(receiver.port)),
      {
        ...post(`http://hooks.internal:${receiver.port}/in?a=b#c`),
        body: '{"ü":1}',
        headers: { "content-type": "application/json" },
      },
      { resolve: resolving("127.0.0.1") },
    );
    expect(receiver.requests).toEqual(['POST /in?a=b {"ü":1}']);
    expect([answer.status, Buffer.from(answer.body).toString()]).toEqual([202, "thanks"]);
    const seen = [`hooks.internal:${receiver.port}`, "application/json", "identity", "close", "8"];
    expect(JSON.parse(String(answer.headers["x-seen"]))).toEqual(seen);
  });

  it("does not reach what stands beside the range", async () => {
    const receiver = await receiveHttp((_, response) => response.end());
    for (const allow of ["127.0.0.2/31", "10.0.0.0/8", "127.0.0.2", `127.0.0.1:${receiver.port + 1}`, "other.internal"])
      await expect(
        requestOutbound(policyOf(allow), post(`http://hooks.internal:${receiver.port}/`), {
          resolve: resolving("127.0.0.1"),
        }),
      ).rejects.toMatchObject({ code: "url_refused" });
    expect(receiver.connections).toBe(0);
  });

  it("tries its next address where one does not answer", async () => {
    const receiver = await receiveHttp((_, response) => response.end("here"));
    const answer = await requestOutbound(policyOf("127.0.0.0/8"), post(`http://hooks.internal:${receiver.port}/`), {
      resolve: resolving("127.0.0.3", "127.0.0.1"),
    });
    expect(Buffer.from(answer.body).toString()).toBe("here");
  });

  it("gets a connection for each request, which is closed behind it", async () => {
    const receiver = await receiveHttp((_, response) => response.end());
    const policy = policyOf("127.0.0.1");
    await requestOutbound(policy, post(`http://127.0.0.1:${receiver.port}/1`));
    await requestOutbound(policy, post(`http://127.0.0.1:${receiver.port}/2`));
    expect(receiver.connections).toBe(2);
  });

  it("says that nobody listens there", async () => {
    const receiver = await receiveHttp((_, response) => response.end(), { host: "127.0.0.2" });
    await expect(
      requestOutbound(policyOf("127.0.0.1"), post(`http://127.0.0.1:${receiver.port}/`)),
    ).rejects.toMatchObject({ code: "connect_failed", message: "The host does not accept connections." });
  });
});

describe("a redirect", () => {
  it.each([301, 302, 303, 307, 308])("is an answer like another, and is not followed: %i", async (status) => {
    const inner = await receiveHttp((_, response) => response.end("secret"));
    const targets = [`http://127.0.0.1:${inner.port}/`, "http://169.254.169.254/latest/meta-data/", "/again"];
    for (const location of targets) {
      const receiver = await receiveHttp((_, response) => response.writeHead(status, { location }).end("moved"));
      // The redirect leads where the policy would let a request of its own go.
      const answer = await requestOutbound(
        policyOf("127.0.0.1,169.254.169.254"),
        post(`http://127.0.0.1:${receiver.port}/`),
      );
      expect([answer.status, receiver.requests.length, inner.connections]).toEqual([status, 1, 0]);
    }
  });
});

describe("a TLS receiver", () => {
  const ask = (url: string, ca?: string) =>
    requestOutbound(policyOf("127.0.0.1"), post(url), {
      resolve: resolving("127.0.0.1"),
      ...(ca === undefined ? {} : { ca }),
    });

  it("is reached by the name or the address that its certificate is valid for", async () => {
    const receiver = await receiveHttps((_, response) => response.end("private"));
    for (const host of ["hooks.example", "HOOKS.example.", "127.0.0.1"]) {
      const answer = await ask(`https://${host}:${receiver.port}/`, hooksCertificate);
      expect(Buffer.from(answer.body).toString()).toBe("private");
    }
    expect(receiver.requests).toHaveLength(3);
  });

  it("gets nothing where its certificate is of nobody we know, or of another name", async () => {
    const receiver = await receiveHttps((_, response) => response.end());
    const refusal = { code: "tls_failed" };
    await expect(ask(`https://hooks.example:${receiver.port}/`)).rejects.toMatchObject(refusal);
    await expect(ask(`https://other.example:${receiver.port}/`, hooksCertificate)).rejects.toMatchObject(refusal);
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      await expect(ask(`https://hooks.example:${receiver.port}/`)).rejects.toMatchObject(refusal);
    } finally {
      delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    }
    expect(receiver.requests).toEqual([]);
  });

  it("gets nothing where it speaks no TLS", async () => {
    const receiver = await receiveHttp((_, response) => response.end());
    await expect(ask(`https://hooks.example:${receiver.port}/`)).rejects.toMatchObject({ code: "tls_failed" });
    expect(receiver.requests).toEqual([]);
  });
});

import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { OutboundError } from "@/lib/outbound/error";
import { parseOutboundAllow } from "@/lib/outbound/policy";
import { type OutboundRequest, requestOutbound } from "@/lib/outbound/request";
import { type Receiver, receiveHttp, receiveTcp } from "./receivers";

const { policy } = parseOutboundAllow("127.0.0.1");
const timeoutMs = 300;
const maxBytes = 10_000;

type Change = Partial<OutboundRequest> & { scheme?: "http" | "https" };

const ask = ({ port }: Receiver, { scheme = "http", ...change }: Change = {}) =>
  requestOutbound(policy, {
    url: `${scheme}://127.0.0.1:${port}/`,
    method: "POST",
    body: "{}",
    timeoutMs,
    maxBytes,
    ...change,
  });

/** How it failed, and after how many ms. */
async function failureOf(receiver: Receiver, change?: Change): Promise<{ error: OutboundError; afterMs: number }> {
  const begun = performance.now();
  const error = await ask(receiver, change).then(
    () => Promise.reject(new Error("it was answered")),
    (failure: OutboundError) => failure,
  );
  return { error, afterMs: performance.now() - begun };
}

/** Writes a piece as often as the other side takes it, until that hangs up. */
function pour(socket: Socket, piece: string | Buffer): void {
  while (!socket.destroyed && socket.write(piece));
  if (!socket.destroyed) socket.once("drain", () => pour(socket, piece));
}

/** Writes a beginning, then a piece of `size` characters every 20 ms, from the start again at the end of `rest`, until the other side hangs up. */
function trickle(socket: Socket, beginning: string, rest: string, size = rest.length): void {
  socket.write(beginning);
  let at = 0;
  const timer = setInterval(() => {
    socket.write(rest.slice(at, at + size));
    at = (at + size) % rest.length;
  }, 20);
  socket.once("close", () => clearInterval(timer));
}

const whenAsked = (answer: (socket: Socket) => void) =>
  receiveTcp((socket) => {
    socket.once("data", () => answer(socket));
  });

describe("a receiver that takes its time", () => {
  const head = "HTTP/1.1 200 OK\r\n";
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;
  const cases: [string, () => Promise<Receiver>, Change, number | undefined][] = [
    ["says nothing", () => receiveTcp((socket) => socket.resume()), {}, undefined],
    ["never begins TLS", () => receiveTcp((socket) => socket.resume()), { scheme: "https" }, undefined],
    [
      "trickles its head",
      () => whenAsked((socket) => trickle(socket, "", `${head}X: ${"y".repeat(99)}`, 1)),
      {},
      undefined,
    ],
    ["trickles headers for ever", () => whenAsked((socket) => trickle(socket, head, "X: y\r\n")), {}, undefined],
    [
      "only ever says that it goes on",
      () => whenAsked((socket) => trickle(socket, "", "HTTP/1.1 102 Processing\r\n\r\n")),
      {},
      undefined,
    ],
    ["trickles its body", () => whenAsked((socket) => trickle(socket, chunked, "1\r\nx\r\n", 1)), {}, 200],
    [
      "trickles a body that nobody keeps",
      () => whenAsked((socket) => trickle(socket, chunked, "1\r\nx\r\n", 1)),
      { keepBody: false },
      200,
    ],
    ["stops in its body", () => receiveHttp((_, response) => response.writeHead(200).write("half")), {}, 200],
  ];
  it.each(cases)("and %s is given up at the deadline, and hung up on", async (_, start, change, status) => {
    const receiver = await start();
    const { error, afterMs } = await failureOf(receiver, change);
    expect({ code: error.code, status: error.status }).toEqual({ code: "timeout", status });
    expect(afterMs).toBeGreaterThan(timeoutMs - 20);
    expect(afterMs).toBeLessThan(timeoutMs + 1_500);
    await receiver.closed();
    expect(receiver.connections).toBe(1);
  });

  it("does not hold up the caller with its name server either", async () => {
    const begun = performance.now();
    await expect(
      requestOutbound(
        policy,
        { url: "https://slow.example/", method: "GET", timeoutMs, maxBytes },
        { resolve: () => new Promise(() => {}) },
      ),
    ).rejects.toMatchObject({ code: "timeout" });
    expect(performance.now() - begun).toBeLessThan(timeoutMs + 1_500);
  });

  it("is not connected to when its name resolves after the deadline", async () => {
    const receiver = await receiveHttp((_, response) => response.end());
    let answer: (addresses: { address: string; family: number }[]) => void = () => {};
    const resolve = () => new Promise<{ address: string; family: number }[]>((done) => (answer = done));
    await expect(
      requestOutbound(
        policy,
        { url: `http://slow.example:${receiver.port}/`, method: "GET", timeoutMs, maxBytes },
        { resolve },
      ),
    ).rejects.toMatchObject({ code: "timeout" });
    answer([{ address: "127.0.0.1", family: 4 }]);
    // A request of its own goes through: what had been late would have come before it.
    await ask(receiver);
    expect(receiver.connections).toBe(1);
  });
});

describe("a receiver that says too much", () => {
  const hundredMegabytes = 100 * 1_024 * 1_024;

  it.each([true, false])("is cut off, whether the body is kept (%s) or not", async (keepBody) => {
    const receiver = await receiveHttp((_, response) => {
      response.writeHead(200, { "content-length": hundredMegabytes });
      response.flushHeaders();
      if (response.socket) pour(response.socket, Buffer.alloc(65_536));
    });
    const { error } = await failureOf(receiver, { keepBody, timeoutMs: 10_000 });
    expect({ code: error.code, status: error.status }).toEqual({ code: "response_too_large", status: 200 });
    await receiver.closed();
    // What was under way in the buffers of both sides; far from all.
    expect(receiver.sentBytes()).toBeLessThan(hundredMegabytes / 5);
  });

  it.each([
    ["as its limit", maxBytes, undefined],
    ["as one byte more than its limit", maxBytes + 1, "response_too_large"],
  ])("and one that says as much %s", async (_, length, code) => {
    const receiver = await receiveHttp((_request, response) => response.end("x".repeat(length)));
    if (code === undefined) expect((await ask(receiver)).body).toHaveLength(length);
    else expect((await failureOf(receiver)).error.code).toBe(code);
  });

  it("in headers is cut off, in one answer or in many before it", async () => {
    const endless = await whenAsked((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nX: ");
      pour(socket, "y".repeat(4_096));
    });
    expect((await failureOf(endless, { timeoutMs: 10_000 })).error.code).toBe("malformed_response");
    const early = await whenAsked((socket) =>
      pour(socket, `HTTP/1.1 103 Early Hints\r\nX: ${"y".repeat(4_096)}\r\n\r\n`),
    );
    expect((await failureOf(early, { timeoutMs: 10_000 })).error.code).toBe("response_too_large");
  });

  it("in the frames of its chunks is cut off", async () => {
    const receiver = await whenAsked((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
      pour(socket, `1;${"y".repeat(4_096)}\r\nx\r\n`);
    });
    const { code } = (await failureOf(receiver, { timeoutMs: 10_000 })).error;
    expect(["response_too_large", "malformed_response"]).toContain(code);
  });

  it("when it is unpacked is left packed", async () => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    const receiver = await receiveHttp((_, response) =>
      response.writeHead(200, { "content-encoding": "gzip" }).end(bomb),
    );
    expect(Buffer.from((await ask(receiver)).body).equals(bomb)).toBe(true);
  });
});

describe("a receiver that lies", () => {
  it.each([
    ["garbage", "\0\x01\x02 nonsense \xff\r\n\r\n", "malformed_response"],
    ["another protocol", "SSH-2.0-OpenSSH_9.2\r\n", "malformed_response"],
    ["a status that is none", "HTTP/1.1 abc OK\r\n\r\n", "malformed_response"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", "malformed_response"],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "malformed_response",
    ],
    ["a chunk without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed_response"],
    [
      "another protocol from here on",
      "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
      "malformed_response",
    ],
    ["less than it announced", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nxx", "reset"],
    ["a body that breaks off", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nxx", "reset"],
    ["a head that breaks off", "HTTP/1.1 200 OK\r\nX: ", "reset"],
    ["nothing, and goodbye", "", "reset"],
  ])("with %s is told from one that answers", async (_, answer, code) => {
    const receiver = await whenAsked((socket) => socket.end(answer, "latin1"));
    expect((await failureOf(receiver, { timeoutMs: 5_000 })).error.code).toBe(code);
  });

  it.each(["http", "https"] as const)("and one that resets the connection is told apart, over %s", async (scheme) => {
    const receiver = await whenAsked((socket) => socket.resetAndDestroy());
    expect((await failureOf(receiver, { scheme, timeoutMs: 5_000 })).error.code).toBe("reset");
  });

  it("and one that resets the connection in its body leaves its status behind", async () => {
    const receiver = await receiveHttp((_, response) => {
      response.writeHead(200);
      response.write("half", () => response.socket?.resetAndDestroy());
    });
    expect((await failureOf(receiver, { timeoutMs: 5_000 })).error).toMatchObject({ code: "reset", status: 200 });
  });

  it("adds nothing to a message, which names no address", async () => {
    const receiver = await whenAsked((socket) => socket.resetAndDestroy());
    const { message } = (await failureOf(receiver, { timeoutMs: 5_000 })).error;
    expect(message).toBe("The host closed the connection before its answer was complete.");
  });
});

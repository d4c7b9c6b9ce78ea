import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { afterEach } from "vitest";

export type Receiver = {
  port: number;
  /** TCP connections that it has had. */
  connections: number;
  /** Requests that came whole, as `METHOD path body`. */
  requests: string[];
  /** Bytes that it has sent. */
  sentBytes(): number;
  /** Resolves once none of its connections is open. */
  closed(): Promise<void>;
};

const running: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const stop of running.splice(0)) await stop();
});

const certificate = (name: string) =>
  readFileSync(path.join(import.meta.dirname, "certificates", `${name}.pem`), "utf8");

/** Its own authority; valid for `hooks.example` and 127.0.0.1. The key is of these tests alone. */
export const hooksCertificate = certificate("hooks");
export const hooksKey = certificate("hooks.key");

/** A real HTTP server on loopback, ended after the test. */
export function receiveHttp(
  answer: RequestListener,
  options: { host?: string; port?: number } = {},
): Promise<Receiver> {
  return listen(options, (receiver) => createHttpServer(recording(receiver, answer)));
}

export function receiveHttps(answer: RequestListener, options: { host?: string } = {}): Promise<Receiver> {
  const credentials = { key: hooksKey, cert: hooksCertificate };
  return listen(options, (receiver) => createHttpsServer(credentials, recording(receiver, answer)));
}

/** Whatever a socket can do that HTTP does not allow. */
export function receiveTcp(answer: (socket: Socket) => void): Promise<Receiver> {
  return listen({}, () => createServer(answer));
}

function recording(receiver: Receiver, answer: RequestListener): RequestListener {
  return (request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      receiver.requests.push(`${request.method} ${request.url} ${Buffer.concat(parts)}`.trim());
      answer(request, response);
    });
  };
}

async function listen(
  { host = "127.0.0.1", port = 0 }: { host?: string; port?: number },
  create: (receiver: Receiver) => Server,
): Promise<Receiver> {
  const sockets = new Set<Socket>();
  const receiver: Receiver = {
    port: 0,
    connections: 0,
    requests: [],
    sentBytes: () => [...sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0),
    closed: async () => {
      for (const socket of sockets)
        if (!socket.closed) await new Promise<void>((resolve) => socket.once("close", () => resolve()));
    },
  };
  const server = create(receiver);
  server.on("connection", (socket: Socket) => {
    receiver.connections += 1;
    sockets.add(socket);
    // The other side hangs up when it likes.
    socket.on("error", () => {});
  });
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  receiver.port = (server.address() as AddressInfo).port;
  running.push(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return receiver;
}

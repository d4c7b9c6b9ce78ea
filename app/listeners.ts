import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Service } from "@/lib/process";
import type { Surface } from "@/lib/surfaces/parse";

/** How long requests under way may take to end, once nothing new is taken. */
const drainTimeoutMs = 20_000;

export type Listeners = {
  /** Throws where an address cannot be listened on; nothing listens then. */
  open(): Promise<void>;
  /**
   * For `graceMs` everything goes on but connections, which end after their next answer, so that whoever balances load sees `/readyz` fail
   * and goes elsewhere. Then takes nothing new, ends parked waits, and resolves when the last request has ended, or
   * after `timeoutMs` (20 s), which cuts what is left.
   */
  drain(graceMs: number, timeoutMs?: number): Promise<void>;
};

/** Makes what answers on a listener with these surfaces; it never fails. */
type AnswerOn = (surfaces: ReadonlySet<Surface>) => (request: IncomingMessage, response: ServerResponse) => unknown;

/** The addresses of the configuration, each with its surfaces. */
export function createListeners(service: Service, answerOn: AnswerOn): Listeners {
  const underWay = new Set<ServerResponse>();
  const isDraining = () => service.draining.isBegun();
  const bound = service.config.listeners.map(({ host, port, surfaces }) => {
    const answer = answerOn(surfaces);
    const server = createServer((request, response) => {
      if (isDraining()) response.shouldKeepAlive = false;
      underWay.add(response);
      response.once("close", () => underWay.delete(response));
      answer(request, response);
    });
    // Parked waits last up to 55 s; the default would end the connection of a slow one.
    server.requestTimeout = 120_000;
    server.keepAliveTimeout = 65_000;
    return { server, host, port };
  });
  const servers = bound.map(({ server }) => server);
  return {
    open: async () => {
      const opened = await Promise.allSettled(bound.map(({ server, host, port }) => listen(server, host, port)));
      const failed = opened.find((result) => result.status === "rejected");
      if (!failed) return;
      for (const server of servers) server.close();
      throw failed.reason;
    },
    drain: async (graceMs, timeoutMs = drainTimeoutMs) => {
      service.draining.begin();
      for (const response of underWay) response.shouldKeepAlive = false;
      if (graceMs > 0) await new Promise((resolve) => setTimeout(resolve, graceMs));
      service.hub.drain();
      await Promise.all(servers.map((server) => close(server, timeoutMs)));
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject).listen(port, host, resolve);
  });
}

/** Whatever a connection does, this ends: one that was handed over as a whole would keep a server open for good. */
async function close(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  let cutting: NodeJS.Timeout | undefined;
  const cut = new Promise<void>((resolve) => {
    cutting = setTimeout(() => {
      server.closeAllConnections();
      resolve();
    }, timeoutMs);
  });
  // A connection becomes idle when its last answer is read, which nothing tells.
  const sweeping = setInterval(() => server.closeIdleConnections(), 200);
  await Promise.race([closed, cut]);
  clearInterval(sweeping);
  clearTimeout(cutting);
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { getRequestListener } from "@hono/node-server";
import next from "next";
import { routeLabel } from "@/lib/metrics/route-label";
import type { Service } from "@/lib/process";
import { trustForwarded, warnOfIgnored } from "@/lib/requests/forwarded";
import { withPageStatus } from "@/lib/requests/page-status";
import { dropRouterHeaders } from "@/lib/requests/router-headers";
import type { Surface } from "@/lib/surfaces/parse";
import { hasPages, routeTarget, unknownOn } from "@/lib/surfaces/route";
import { createMachineApp } from "./api/machine";
import { createFormApp, isForm } from "./forms";
import { answerMetrics } from "./metrics";

type Answer = (request: IncomingMessage, response: ServerResponse) => unknown;

/**
 * What the process answers, made once; the result makes a handler for a listener with the surfaces named. The pages are loaded only where a
 * listener of this process has some.
 */
export async function createAnswers(
  service: Service,
  { dev }: { dev: boolean },
): Promise<(surfaces: ReadonlySet<Surface>) => Answer> {
  const { config, log } = service;
  const needsPages = config.listeners.some(({ surfaces }) => hasPages(surfaces));
  const machine = getRequestListener(createMachineApp(service).fetch, { overrideGlobalObjects: false });
  const forms = getRequestListener(createFormApp(service).fetch, { overrideGlobalObjects: false });
  const pages: Answer = needsPages ? await loadPages(service, dev) : machine;
  const handlers = { machine, pages };
  const onIgnored = warnOfIgnored(log);
  return (surfaces) => {
    const unknown = unknownOn(surfaces);
    const answer = (request: IncomingMessage, response: ServerResponse) => {
      const { handler, target, path } = routeTarget(request.url ?? "/", surfaces, { dev });
      request.url = target;
      observe(service, request.method, target, response);
      if (handler === "metrics") return sendMetrics(service, request, response, surfaces, handlers[unknown.handler]);
      return handler === "pages" && isForm(request.method, path)
        ? forms(request, response)
        : handlers[handler](request, response);
    };
    return async (request, response) => {
      trustForwarded(request, config.trustedProxies, onIgnored);
      // In development Next reloads pages by them.
      if (!dev) dropRouterHeaders(request);
      try {
        await answer(request, response);
      } catch (error) {
        log.error({ reason: (error as Error).message, stack: (error as Error).stack }, "a request failed");
        if (!response.headersSent) response.writeHead(500).end();
      }
    };
  };
}

/** Counts a request when its answer has gone out; one that nobody waited for has no status to count. */
function observe(service: Service, method: string | undefined, target: string, response: ServerResponse): void {
  const startedAt = performance.now();
  response.once("close", () => {
    if (!response.headersSent) return;
    const seconds = (performance.now() - startedAt) / 1000;
    service.metrics.observeRequest(method, routeLabel(target), response.statusCode, seconds);
  });
}

/** Whoever may not read the metrics is answered as for any path that is unknown on the listener. */
async function sendMetrics(
  service: Service,
  request: IncomingMessage,
  response: ServerResponse,
  surfaces: ReadonlySet<Surface>,
  answerUnknown: Answer,
): Promise<void> {
  const { method = "GET", headers } = request;
  const { authorization } = headers;
  const asked = new Request("http://localhost/metrics", { headers: authorization ? { authorization } : {} });
  const isOwnListener = !surfaces.has("pages");
  const answer = method === "GET" ? await answerMetrics(service, asked, { isOwnListener }) : undefined;
  if (!answer || answer.status === 404) {
    request.url = unknownOn(surfaces).target;
    await answerUnknown(request, response);
    return;
  }
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}

async function loadPages(service: Service, dev: boolean): Promise<Answer> {
  const { host: hostname, port } = service.config.listeners[0] ?? service.config;
  // Next would answer requests to upgrade a connection itself, past our routing, and tell existing pages apart by it. It is given a server
  // that never listens; without a handler, Node takes such requests for plain ones. In development pages are reloaded that way.
  const app = next({ dev, dir: process.cwd(), hostname, port, ...(dev ? {} : { httpServer: createServer() }) });
  await app.prepare();
  const answer = app.getRequestHandler();
  return (request, response) => withPageStatus(response, () => answer(request, response));
}

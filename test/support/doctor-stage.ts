import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { createMachineApp } from "@/app/api/machine";
import type { Service } from "@/lib/process";
import { trustForwarded } from "@/lib/requests/forwarded";
import { contentSecurityPolicy, securityHeaders } from "@/lib/requests/security-headers";

export type Front = { url: string; stop(): Promise<void> };

/** Takes requests and answers in the way of a proxy that is set wrongly; false: as a right one would. */
export type Meddling = (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;

/** The machine API of a service on a port, with a page that has the headers of ours; what comes between is `meddle`. */
export async function startFront(service: Service, meddle: Meddling = () => false, host = "127.0.0.1"): Promise<Front> {
  const answerMachine = getRequestListener(createMachineApp(service).fetch, { overrideGlobalObjects: false });
  const server = createServer(async (request, response) => {
    if (await meddle(request, response)) return;
    trustForwarded(request, service.config.trustedProxies);
    if (request.url === "/signin") answerPage(service, response);
    else await answerMachine(request, response);
  });
  server.listen(0, host);
  await once(server, "listening");
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    stop: async () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

let pages = 0;
function answerPage(service: Service, response: ServerResponse): void {
  pages += 1;
  response.writeHead(200, {
    ...securityHeaders(service.config.url),
    "content-security-policy": contentSecurityPolicy(`n${pages}`, false),
    "content-type": "text/html",
  });
  response.end("<!doctype html><title>Sign in</title>");
}

import { createServer, type IncomingMessage } from "node:http";
import { getRequestListener } from "@hono/node-server";
import next from "next";
import { createMachineApp, isMachinePath } from "@/app/api/machine";
import { createFormApp, isForm } from "@/app/forms";
import { ConfigError, parseConfig } from "@/lib/config";
import { setService } from "@/lib/process";
import { trustForwarded, warnOfIgnored } from "@/lib/requests/forwarded";
import { withPageStatus } from "@/lib/requests/page-status";
import { dropRouterHeaders } from "@/lib/requests/router-headers";
import { startService } from "@/lib/service/start";
import { sessionSecret } from "@/lib/sessions/cookie";
import { startWorker } from "@/lib/worker/run";

/** How long requests under way may take to end after SIGTERM. */
const drainTimeoutMs = 20_000;

async function main(): Promise<void> {
  const dev = process.argv.includes("--dev");
  const config = parseConfig(process.env);
  const { service, stop } = await startService(config, { migrate: true, listen: true });
  setService(service);
  // next-auth reads these two, and nothing else, from the environment.
  process.env["NEXTAUTH_URL"] = config.url;
  process.env["NEXTAUTH_SECRET"] = sessionSecret(service);

  const pages = next({ dev, dir: process.cwd(), hostname: config.host, port: config.port });
  await pages.prepare();
  const answerPage = pages.getRequestHandler();
  const answerMachine = getRequestListener(createMachineApp(service).fetch, { overrideGlobalObjects: false });
  const answerForm = getRequestListener(createFormApp(service).fetch, { overrideGlobalObjects: false });
  const onIgnored = warnOfIgnored(service.log);
  const server = createServer((request, response) => {
    trustForwarded(request, config.trustedProxies, onIgnored);
    // In development Next reloads pages by them.
    if (!dev) dropRouterHeaders(request);
    const path = readPath(request);
    const answered = isMachinePath(path)
      ? answerMachine(request, response)
      : isForm(request.method, path)
        ? answerForm(request, response)
        : withPageStatus(response, () => answerPage(request, response));
    Promise.resolve(answered).catch((error: Error) => {
      service.log.error({ reason: error.message, stack: error.stack }, "a request failed");
      if (!response.headersSent) response.writeHead(500).end();
    });
  });
  // Parked waits last up to 55 s; the default would end the connection of a slow one.
  server.requestTimeout = 120_000;
  server.keepAliveTimeout = 65_000;
  const worker = startWorker(service);
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(config.port, config.host, resolve));
  service.log.info({ url: config.url, host: config.host, port: config.port }, "Countersign is ready");

  let isStopping = false;
  const shutDown = async (signal: string) => {
    if (isStopping) process.exit(1);
    isStopping = true;
    service.log.info({ signal }, "draining: parked waits answer now, requests under way end");
    service.hub.drain();
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    server.closeIdleConnections();
    setTimeout(() => server.closeAllConnections(), drainTimeoutMs).unref();
    const sweeping = setInterval(() => server.closeIdleConnections(), 200);
    await closed;
    clearInterval(sweeping);
    await worker.stop();
    await stop();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void shutDown(signal));
}

/** The path of a request; one that does not decode becomes that of something that is not there, which Next would answer with 500. */
function readPath(request: IncomingMessage): string {
  const path = (request.url ?? "/").split("?", 1)[0] ?? "/";
  try {
    decodeURIComponent(path);
    return path;
  } catch {
    request.url = path.startsWith("/a/") ? "/a/malformed" : "/malformed";
    return request.url;
  }
}

main().catch((error: unknown) => {
  const text =
    error instanceof ConfigError
      ? error.message
      : error instanceof Error
        ? (error.stack ?? error.message)
        : String(error);
  process.stderr.write(`${text}\n`);
  process.exit(1);
});

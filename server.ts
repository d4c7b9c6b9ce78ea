import { createAnswers } from "@/app/answers";
import { createListeners, type Listeners } from "@/app/listeners";
import { ConfigError, parseConfig } from "@/lib/config";
import { type Service, setService } from "@/lib/process";
import { warnOfEmbedded } from "@/lib/service/embedded-warning";
import { startService } from "@/lib/service/start";
import { sessionSecret } from "@/lib/sessions/cookie";
import { startWorker } from "@/lib/worker/run";

async function main(): Promise<void> {
  const dev = process.argv.includes("--dev");
  const config = parseConfig(process.env);
  const { service, stop } = await startService(config, { migrate: true, listen: true });
  try {
    const listeners = await serve(service, dev);
    const worker = startWorker(service);
    warnOfEmbedded(service, { isProduction: process.env["NODE_ENV"] === "production" });
    service.log.info({ url: config.url, listeners: describe(service) }, "Countersign is ready");
    drainOnSignal(service, listeners, async () => {
      await worker.stop();
      await stop();
    });
  } catch (error) {
    await stop();
    throw error;
  }
}

async function serve(service: Service, dev: boolean): Promise<Listeners> {
  setService(service);
  // next-auth reads these two, and nothing else, from the environment.
  process.env["NEXTAUTH_URL"] = service.config.url;
  process.env["NEXTAUTH_SECRET"] = sessionSecret(service);
  const listeners = createListeners(service, await createAnswers(service, { dev }));
  await listeners.open();
  return listeners;
}

const describe = (service: Service) =>
  service.config.listeners.map(({ host, port, surfaces }) => ({ host, port, surfaces: [...surfaces].join(",") }));

/** SIGTERM drains with the grace that load balancers need, Ctrl-C without; a second signal exits at once. */
function drainOnSignal(service: Service, listeners: Listeners, end: () => Promise<void>): void {
  let isStopping = false;
  const shutDown = async (signal: "SIGTERM" | "SIGINT") => {
    if (isStopping) process.exit(1);
    isStopping = true;
    const graceSeconds = signal === "SIGTERM" ? service.config.drainGraceSeconds : 0;
    service.log.info({ signal, graceSeconds }, "draining: parked waits are answered, requests under way end");
    await listeners.drain(graceSeconds * 1000);
    await end();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void shutDown(signal));
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

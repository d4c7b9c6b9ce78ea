import { parseConfig } from "@/lib/config";
import { warnOfEmbedded } from "@/lib/service/embedded-warning";
import { startService } from "@/lib/service/start";
import { startWorker } from "@/lib/worker/run";

// The background work alone, beside servers that share the database.
const { service, stop } = await startService(parseConfig(process.env), { migrate: true });
const worker = startWorker(service);
warnOfEmbedded(service, { isProduction: process.env.NODE_ENV === "production" });
service.log.info("the worker is ready");
let isStopping = false;
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.on(signal, async () => {
    // The step under way ends first; who cannot wait for it signals again.
    if (isStopping) process.exit(1);
    isStopping = true;
    service.log.info({ signal }, "stopping: the step under way ends");
    await worker.stop();
    await stop();
    process.exit(0);
  });
}

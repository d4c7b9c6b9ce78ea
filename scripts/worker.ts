import { parseConfig } from "@/lib/config";
import { startService } from "@/lib/service/start";
import { startWorker } from "@/lib/worker/run";

// The background work alone, beside servers that share the database.
const { service, stop } = await startService(parseConfig(process.env), { migrate: true });
const worker = startWorker(service);
service.log.info("the worker is ready");
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, async () => {
    await worker.stop();
    await stop();
    process.exit(0);
  });
}

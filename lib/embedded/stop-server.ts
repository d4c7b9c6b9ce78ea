import type { Native } from "./native";
import type { ClusterPlace } from "./paths";
import { isPostmaster, readPidFile } from "./postmaster";
import { processStamp } from "./process-stamp";
import { run } from "./run";

/**
 * Stops the server of the cluster in an orderly way: connections end, everything is on disk. Resolves when it is gone, also
 * when it was gone before. Throws when it still runs after 60 s. To be called under the lock.
 */
export async function stopServer(place: ClusterPlace, native: Native): Promise<void> {
  const file = await readPidFile(place);
  if (!file || (await processStamp(file.pid)) === undefined || !(await isPostmaster(place, file.pid))) return;
  const args = ["stop", "-D", place.cluster, "-m", "fast", "-w", "-t", "60", "-s"];
  const result = await run(native.pgCtl, args, place.server);
  if (result.code !== 0 && (await processStamp(file.pid)) !== undefined) {
    throw new Error(`The embedded database does not stop: ${result.output}`);
  }
}

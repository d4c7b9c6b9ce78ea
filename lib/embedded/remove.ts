import { rm } from "node:fs/promises";
import { readHolders } from "./holders";
import { withLock } from "./lock";
import { openFolder, openHome } from "./paths";
import { isPostmaster, readPidFile } from "./postmaster";
import { loadRecord } from "./record";

/**
 * Deletes the embedded database of a data folder with all data, wherever it lies; for throw-away clusters. Throws while
 * somebody uses it. Nothing may start it at the same moment.
 */
export async function removeEmbedded(dataDir: string): Promise<void> {
  const folder = await openFolder(dataDir);
  await withLock(folder.folder, folder.owner, async () => {
    const { holders } = await readHolders(folder);
    if (holders[0]) throw new Error(`Process ${holders[0].pid} still uses the database in ${folder.folder}.`);
    const place = await openHome(folder, (await loadRecord(folder)).home);
    const server = await readPidFile(place);
    if (server && (await isPostmaster(place, server.pid))) {
      throw new Error(`PostgreSQL (process ${server.pid}) still runs on ${place.cluster}.`);
    }
    if (place.home !== place.folder) await rm(place.home, { recursive: true, force: true });
  });
  await rm(folder.folder, { recursive: true, force: true });
}

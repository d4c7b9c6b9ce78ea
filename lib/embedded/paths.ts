import { randomBytes } from "node:crypto";
import type { Stats } from "node:fs";
import { chmod, chown, lstat, mkdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Account, type Accounts, chooseAccounts } from "./account";
import { hasCode } from "./error-code";

/** What belongs to the embedded database of one data folder. */
export type EmbeddedFolder = Accounts & {
  /** `<dataDir>/postgres`: record, lock, holders and the server's log. */
  folder: string;
  logFile: string;
};

/** Where the cluster itself lies: `<home>/cluster`; `home` is the folder above unless root started it first. */
export type ClusterPlace = EmbeddedFolder & { home: string; cluster: string };

/** Root's clusters and copied programs lie here: the unprivileged server cannot enter a data folder of root (0700). */
const SHARED_FOLDER = "/var/lib/countersign";

/**
 * Creates `<dataDir>/postgres` (0700; `dataDir` too where missing) and says who works in it. Throws when the folder is a
 * link, belongs to somebody else or is open to others.
 */
export async function openFolder(dataDir: string): Promise<EmbeddedFolder> {
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const root = await realpath(dataDir);
  const callerUid = process.getuid?.();
  const accounts = chooseAccounts(callerUid, await stat(root));
  const folder = join(root, "postgres");
  await ensurePrivateFolder(folder, accounts.owner);
  return { ...accounts, folder, logFile: join(folder, "server.log") };
}

/** Names a home for a new cluster: the folder itself, or, where root's server cannot enter it, a fresh one outside. */
export function chooseHome(place: EmbeddedFolder): string | undefined {
  return place.server && !place.owner ? join(SHARED_FOLDER, randomBytes(8).toString("hex")) : undefined;
}

/** Opens the home of the cluster and creates it where missing. Throws like `openFolder`. */
export async function openHome(place: EmbeddedFolder, home: string | undefined): Promise<ClusterPlace> {
  if (home !== undefined) {
    if (process.getuid?.() !== 0) {
      throw new Error(`Root made the database of this data folder, in ${home}: start as root, as before.`);
    }
    await ensureSharedFolder();
    await ensurePrivateFolder(home, place.server);
  }
  const chosen = home ?? place.folder;
  return { ...place, home: chosen, cluster: join(chosen, "cluster") };
}

/** The folder for a copy of PostgreSQL's programs, when they cannot run where they are. */
export async function openCopyParent(place: EmbeddedFolder): Promise<string> {
  if (chooseHome(place) === undefined) return place.folder;
  await ensureSharedFolder();
  return SHARED_FOLDER;
}

/** Creates root's shared folder (0755), or throws when somebody else could change what is in it. */
async function ensureSharedFolder(shared: string = SHARED_FOLDER): Promise<void> {
  await createFolder(shared, 0o755, undefined);
  checkFolder(shared, await lstat(shared), [0], 0o022);
}

async function ensurePrivateFolder(folder: string, owner: Account | undefined): Promise<void> {
  await createFolder(folder, 0o700, owner);
  checkFolder(folder, await lstat(folder), [owner?.uid ?? process.getuid?.()], 0o077);
}

async function createFolder(folder: string, mode: number, owner: Account | undefined): Promise<void> {
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    if (hasCode(error, "EEXIST")) return;
    throw error;
  }
  await chmod(folder, mode); // mkdir is subject to the umask
  if (owner) await chown(folder, owner.uid, owner.gid);
}

/** Throws unless `stats` (by `lstat`) is a real folder of one of `uids` without any of the `forbidden` mode bits. */
export function checkFolder(path: string, stats: Stats, uids: (number | undefined)[], forbidden: number): void {
  if (!stats.isDirectory()) throw new Error(`${path} must be a folder, not a link or a file.`);
  if (process.platform === "win32") return; // neither owners nor modes there
  if (!uids.includes(stats.uid)) throw new Error(`${path} belongs to user ${stats.uid}, who must not own it.`);
  if ((stats.mode & forbidden) !== 0) {
    throw new Error(`${path} is open to other users (mode ${(stats.mode & 0o777).toString(8)}).`);
  }
}

import { randomBytes } from "node:crypto";
import { open, readdir, readFile, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Account } from "./account";
import { hasCode } from "./error-code";
import { processStamp } from "./process-stamp";

/**
 * Writes a file that only its owner can read (0600): whole or not at all, also after a power loss. A link that stands at
 * `path` is replaced, never followed.
 */
export async function writePrivate(path: string, text: string, owner: Account | undefined): Promise<void> {
  const draft = draftPath(path);
  try {
    await createPrivate(draft, text, owner);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Creates a file that only its owner can read (0600); fails with `EEXIST` when anything stands at `path`. */
export async function createPrivate(path: string, text: string, owner: Account | undefined): Promise<void> {
  const handle = await open(path, "wx", 0o600);
  try {
    await handle.writeFile(text);
    if (owner) await handle.chown(owner.uid, owner.gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Names a file or folder beside `path` that nobody else writes, to be renamed to `path` when it is whole. */
export function draftPath(path: string): string {
  return `${path}.${process.pid}-${randomBytes(6).toString("hex")}`;
}

/** Deletes the drafts in `folder` whose makers were killed over them. Safe at any time. */
export async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /\.(\d+)-[0-9a-f]{12}$/.exec(name)?.[1];
    if (pid === undefined || (await processStamp(Number(pid))) !== undefined) continue;
    // A program that outlived its starter may still write there; then it stays until the next time.
    await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** Reads a text file, or `undefined` when there is none. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  }
}

/** Makes the names in `folder` survive a power loss. */
export async function syncFolder(folder: string): Promise<void> {
  if (process.platform === "win32") return; // a folder cannot be opened there
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

import { chmod, cp, lstat, mkdir, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Account } from "./account";
import { hasCode } from "./error-code";
import { linkLibraries } from "./link-libraries";
import { checkFolder } from "./paths";
import { draftPath, removeDrafts } from "./write-private";

/**
 * Copies PostgreSQL's programs to `target` with their library links, readable for everyone and writable only for their
 * owner. Returns `false` when a copy is there already; throws when it could be somebody else's. Safe to call in parallel.
 */
export async function copyNative(source: string, target: string, owner: Account | undefined): Promise<boolean> {
  const stats = await lstat(target).catch((error: unknown) => {
    if (hasCode(error, "ENOENT")) return undefined;
    throw error;
  });
  if (stats) {
    checkFolder(target, stats, [0, process.getuid?.(), owner?.uid], 0o022);
    return false;
  }
  await removeDrafts(dirname(target));
  const draft = draftPath(target);
  await mkdir(draft, { mode: 0o700 });
  try {
    const native = join(draft, "native"); // the list of links names it so
    await cp(source, native, { recursive: true, verbatimSymlinks: true });
    await openForReading(native);
    await linkLibraries(native);
    await rename(native, target);
    return true;
  } catch (error) {
    if (hasCode(error, "ENOTEMPTY", "EEXIST")) return false;
    throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

/** A package installed under `umask 077` is closed to the account that must run it; one in a read-only tree, to our links. */
async function openForReading(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await openForReading(path);
    else if (entry.isFile()) await chmod(path, ((await lstat(path)).mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

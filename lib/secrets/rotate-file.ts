import { randomBytes } from "node:crypto";
import { link, rm, stat } from "node:fs/promises";
import { withLock } from "../embedded/lock";
import { removeDrafts, syncFolder, writePrivate } from "../embedded/write-private";
import { readSecret, secretFiles } from "./load";

/**
 * Puts a new secret in the place of a data folder's, and keeps the old one beside it. False where there is one beside it already: two
 * rotations would lose the first; of several at once, in any processes, one rotates. Whole or not at all, also after a power loss: one
 * that was cut short is taken up again. Throws where there is no secret.
 */
export async function rotateSecretFile(dataDir: string): Promise<boolean> {
  const { current, previous } = secretFiles(dataDir);
  if (!(await readSecret(current))) throw new Error(`${current} is not there: nothing was started in this folder`);
  return withLock(dataDir, undefined, async () => {
    await removeDrafts(dataDir);
    const [secret, before] = await Promise.all([readSecret(current), readSecret(previous)]);
    if (!secret || (before && !before.equals(secret))) return false;
    if (!before) await link(current, previous);
    // The old one is in its new place for good before it leaves the other.
    await syncFolder(dataDir);
    await writePrivate(current, randomBytes(32).toString("hex"), undefined);
    return true;
  });
}

/** When the secret of a data folder was made, or undefined where none is kept beside it. */
export async function rotatedAt(dataDir: string): Promise<Date | undefined> {
  const { current, previous } = secretFiles(dataDir);
  if (!(await readSecret(previous))) return undefined;
  return (await stat(current)).mtime;
}

/**
 * Deletes the previous secret of a data folder, whose rotation was at `since`. False where that is not the rotation any more: what was found
 * out about the rows does not hold for another one.
 */
export async function dropPreviousFile(dataDir: string, since: Date): Promise<boolean> {
  const { previous } = secretFiles(dataDir);
  return withLock(dataDir, undefined, async () => {
    if ((await rotatedAt(dataDir))?.getTime() !== since.getTime()) return false;
    await rm(previous);
    await syncFolder(dataDir);
    return true;
  });
}

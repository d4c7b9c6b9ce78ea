import { link, rename, stat, unlink } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "../embedded/write-private";
import { draftSecret, readSecret, secretFiles } from "./load";

/**
 * Puts a new secret in the place of a data folder's, and keeps the old one beside it. False where there is one beside it already: two
 * rotations at once would lose the first. Whole or not at all: one that was cut short is taken up again. Throws where there is no secret.
 */
export async function rotateSecretFile(dataDir: string): Promise<boolean> {
  const { current, previous } = secretFiles(dataDir);
  const secret = await readSecret(current);
  if (!secret) throw new Error(`${current} is not there: nothing was started in this folder`);
  const before = await readSecret(previous);
  if (before && !before.equals(secret)) return false;
  if (!before) await link(current, previous);
  const { draft } = await draftSecret(current);
  await rename(draft, current);
  await syncFolder(path.dirname(current));
  return true;
}

/** When the secret of a data folder was made, or undefined where none is kept beside it. */
export async function rotatedAt(dataDir: string): Promise<Date | undefined> {
  const { current, previous } = secretFiles(dataDir);
  if (!(await readSecret(previous))) return undefined;
  return (await stat(current)).mtime;
}

/** Deletes the previous secret of a data folder. */
export async function dropPreviousFile(dataDir: string): Promise<void> {
  const { previous } = secretFiles(dataDir);
  await unlink(previous);
  await syncFolder(path.dirname(previous));
}

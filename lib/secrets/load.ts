import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../config";
import { createPrivate, draftPath, syncFolder } from "../embedded/write-private";
import { deriveSecrets, type Secrets } from "./derive";

/**
 * The keys of this deployment: of the secret in the configuration, else of the one in the data folder, where it is made at first start
 * (mode 0600); and of the one before it, where a rotation has left it there. Losing the secret means that existing records and receipts
 * cannot be decided or consumed any more.
 */
export async function loadSecrets(config: Config): Promise<Secrets> {
  if (config.secret) return deriveSecrets(config.secret, config.previousSecret);
  const { current, previous } = secretFiles(config.dataDir);
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const secret = (await createOnce(current)) ?? (await readSecret(current));
  if (!secret) throw new Error(`${current} cannot be read`);
  const before = await readSecret(previous);
  // A rotation that was cut short has linked the one secret to both places.
  return before && !before.equals(secret) ? deriveSecrets(secret, before) : deriveSecrets(secret);
}

/** Where the secret of a data folder lies, and during a rotation the one before it. */
export function secretFiles(dataDir: string): { current: string; previous: string } {
  return { current: path.join(dataDir, "secret"), previous: path.join(dataDir, "secret.previous") };
}

/** The secret in a file, or undefined where there is no file. Throws where it holds none. */
export async function readSecret(file: string): Promise<Buffer | undefined> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text.trim(), "hex");
  if (bytes.length < 32) throw new Error(`${file} does not hold 32 bytes in hex`);
  return bytes;
}

/** Of two processes that start together one wins and both read the same. It survives a power loss before anything is written with it. */
async function createOnce(file: string): Promise<Buffer | undefined> {
  const bytes = randomBytes(32);
  const draft = draftPath(file);
  try {
    await createPrivate(draft, bytes.toString("hex"), undefined);
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(path.dirname(file));
  return bytes;
}

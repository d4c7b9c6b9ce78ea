import { randomBytes } from "node:crypto";
import { link, mkdir, readFile, unlink, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Config } from "../config";

/**
 * The service's secret: from the configuration, else from the data folder, where it is made at first start (mode 0600).
 * Losing that file means that existing records and receipts cannot be decided or consumed any more.
 */
export async function loadSecret(config: Config): Promise<Uint8Array> {
  if (config.secret) return config.secret;
  const file = path.join(config.dataDir, "secret");
  await mkdir(config.dataDir, { recursive: true, mode: 0o700 });
  const made = await createOnce(file);
  const bytes = made ?? Buffer.from((await readFile(file, "utf8")).trim(), "hex");
  if (bytes.length < 32) throw new Error(`${file} does not hold 32 bytes in hex`);
  return new Uint8Array(bytes);
}

/** Written whole beside its place, then linked there: of two processes that start together one wins and both read the same. */
async function createOnce(file: string): Promise<Buffer | undefined> {
  const bytes = randomBytes(32);
  const draft = `${file}.${process.pid}.${bytes.toString("hex", 0, 4)}`;
  await writeFile(draft, bytes.toString("hex"), { mode: 0o600, flush: true });
  try {
    await link(draft, file);
    return bytes;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  } finally {
    await unlink(draft);
  }
}

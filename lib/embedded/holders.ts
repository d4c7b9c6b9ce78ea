import { join } from "node:path";
import { z } from "zod";
import type { EmbeddedFolder } from "./paths";
import { isAlive } from "./process-stamp";
import { readIfPresent, writePrivate } from "./write-private";

const holderSchema = z.object({ id: z.string(), pid: z.number(), stamp: z.string() });
const holdersSchema = z.object({ port: z.number(), holders: z.array(holderSchema) });

/** One use of the running database by one process. */
export type Holder = z.infer<typeof holderSchema>;

/** `<dataDir>/postgres/holders.json`: the port that was handed out, and who uses it. */
export type Holders = z.infer<typeof holdersSchema>;

/** Reads who uses the database now; the dead are left out. To be called under the lock. */
export async function readHolders(place: EmbeddedFolder): Promise<Holders> {
  const text = await readIfPresent(holdersPath(place));
  if (text === undefined) return { port: 0, holders: [] };
  const stored = holdersSchema.parse(JSON.parse(text));
  const alive = await Promise.all(stored.holders.map(isAlive));
  return { port: stored.port, holders: stored.holders.filter((_, index) => alive[index]) };
}

/** Writes who uses the database. To be called under the lock. */
export async function writeHolders(place: EmbeddedFolder, holders: Holders): Promise<void> {
  await writePrivate(holdersPath(place), JSON.stringify(holders), place.owner);
}

function holdersPath(place: EmbeddedFolder): string {
  return join(place.folder, "holders.json");
}

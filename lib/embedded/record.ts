import { randomBytes } from "node:crypto";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type ClusterPlace, chooseHome, type EmbeddedFolder } from "./paths";
import { readIfPresent, writePrivate } from "./write-private";

const recordSchema = z.object({
  version: z.literal(1),
  /** Of the roles `postgres` and `countersign`: 256 random bits, base64url. */
  password: z.string().min(43),
  /** Of the role `countersign_service`, likewise. Absent in folders that older versions made. */
  servicePassword: z.string().min(43).optional(),
  /** Where the cluster lies, when not beside this file. */
  home: z.string().optional(),
  /** Set once the cluster exists: from then on a missing cluster is a loss, not a first start. */
  initialisedAt: z.string().optional(),
});

/** `<dataDir>/postgres/cluster.json`: what must be known for ever about the cluster of this data folder. */
export type ClusterRecord = z.infer<typeof recordSchema> & { servicePassword: string };

/** Reads the record of the data folder, completes an older one, or writes the first. To be called under the lock. */
export async function loadRecord(place: EmbeddedFolder): Promise<ClusterRecord> {
  const text = await readIfPresent(recordPath(place));
  const stored = text === undefined ? undefined : recordSchema.parse(JSON.parse(text));
  if (stored?.servicePassword !== undefined) return { ...stored, servicePassword: stored.servicePassword };
  const home = chooseHome(place);
  const begun = stored ?? { version: 1 as const, password: newPassword(), ...(home === undefined ? {} : { home }) };
  const record: ClusterRecord = { ...begun, servicePassword: newPassword() };
  await saveRecord(place, record);
  return record;
}

const newPassword = () => randomBytes(32).toString("base64url");

/** Notes that the cluster exists from now on. */
export async function markInitialised(place: EmbeddedFolder, record: ClusterRecord): Promise<void> {
  if (record.initialisedAt === undefined) {
    await saveRecord(place, { ...record, initialisedAt: new Date().toISOString() });
  }
}

/** Tells whether the cluster exists. Throws when it did and is gone: an empty database must never take its place. */
export async function clusterExists(place: ClusterPlace, record: ClusterRecord): Promise<boolean> {
  const exists = await access(join(place.cluster, "PG_VERSION")).then(
    () => true,
    () => false,
  );
  if (!exists && record.initialisedAt !== undefined) {
    throw new Error(
      `The database of this data folder, ${place.cluster}, is missing or cannot be read. Restore it, or delete ${place.folder} to begin with an empty one.`,
    );
  }
  return exists;
}

function recordPath(place: EmbeddedFolder): string {
  return join(place.folder, "cluster.json");
}

async function saveRecord(place: EmbeddedFolder, record: ClusterRecord): Promise<void> {
  await writePrivate(recordPath(place), `${JSON.stringify(record, undefined, 2)}\n`, place.owner);
}

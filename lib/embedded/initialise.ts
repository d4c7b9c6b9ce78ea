import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Native } from "./native";
import type { ClusterPlace } from "./paths";
import { run } from "./run";
import { createPrivate, draftPath, syncFolder } from "./write-private";

/**
 * Creates the cluster: UTF-8, locale C.UTF-8 of PostgreSQL's own provider (the same on every machine), SCRAM on every
 * connection. It appears under its name only when complete. To be called under the lock.
 */
export async function initialise(place: ClusterPlace, native: Native, password: string): Promise<void> {
  // A name never used before: the initdb of a starter that was killed may still be at work on its own.
  const draft = draftPath(place.cluster);
  const passwordFile = draftPath(join(place.home, "password"));
  await createPrivate(passwordFile, password, place.server);
  try {
    const result = await run(
      native.initdb,
      [
        `--pgdata=${draft}`,
        "--username=postgres",
        `--pwfile=${passwordFile}`,
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        "--locale-provider=builtin",
        "--builtin-locale=C.UTF-8",
      ],
      place.server,
    );
    if (result.code !== 0) throw new Error(`The embedded database could not be created: ${result.output}`);
  } finally {
    await rm(passwordFile, { force: true });
  }
  await rename(draft, place.cluster);
  await syncFolder(place.home);
}

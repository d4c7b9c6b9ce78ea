import pg from "pg";
import { startEmbedded } from "@/lib/embedded/start";
import { migrate } from "@/prisma/migrate";

/** A PostgreSQL of its own that a test can stop and start again at the same address. */
export async function restartableCluster(
  dataDir: string,
): Promise<{ url: string; restart(): Promise<void>; stop(): Promise<void> }> {
  throw new Error(`not written yet: ${dataDir} ${typeof startEmbedded} ${typeof pg} ${typeof migrate}`);
}

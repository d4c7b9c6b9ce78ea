import { execFileSync } from "node:child_process";
import pg from "pg";
import { removeEmbedded } from "@/lib/embedded/remove";
import { startEmbedded } from "@/lib/embedded/start";
import { migrate } from "@/prisma/migrate";

/** A PostgreSQL of its own that a test can take down; it comes back at the same address, as an operator's would. */
export async function restartableCluster(
  dataDir: string,
): Promise<{ url: string; restart(): Promise<void>; stop(): Promise<void> }> {
  const database = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await migrate(admin);
  await admin.end();
  return {
    url: database.url,
    restart: async () => {
      process.kill(await postmasterPid(database.url), "SIGINT");
      await answering(database.url, false);
      await answering(database.url, true);
    },
    stop: async () => {
      await database.stop();
      await removeEmbedded(dataDir);
    },
  };
}

/** The parent of a backend; asked for while its connection is open. */
async function postmasterPid(url: string): Promise<number> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const { rows } = await db.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
  const parent = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(rows[0]?.pid)], { encoding: "utf8" }));
  await db.end();
  return parent;
}

/** Until the server answers, or no longer does; 30 s at most. */
async function answering(url: string, wanted: boolean): Promise<void> {
  const endsAt = Date.now() + 30_000;
  while (Date.now() < endsAt) {
    const db = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    db.on("error", () => {});
    const isUp = await db.connect().then(
      () => true,
      () => false,
    );
    await db.end().catch(() => {});
    if (isUp === wanted) return;
  }
  throw new Error(`the database is still ${wanted ? "down" : "up"}`);
}

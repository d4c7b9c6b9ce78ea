import type { Command } from "commander";
import { createPool } from "@/lib/database/pool";
import { startEmbedded } from "@/lib/embedded/start";
import { migrate } from "@/prisma/migrate";
import type { Run } from "./run";
import { readEnvironment, untilInterrupted } from "./service";

/** `countersign migrate`: brings the database up to date without starting the service. */
export function addMigrateCommand(program: Command, run: Run): void {
  program
    .command("migrate")
    .description("apply the migrations that the database lacks")
    .action(() =>
      run(async () => {
        const applied = await applyMigrations();
        return {
          json: { applied },
          lines: applied.length === 0 ? ["The database is up to date."] : applied.map((name) => `Applied ${name}.`),
        };
      }),
    );
}

async function applyMigrations(): Promise<string[]> {
  const { config, log } = readEnvironment();
  return untilInterrupted(async (interrupted) => {
    const embedded =
      config.databaseUrl === undefined ? await startEmbedded({ dataDir: config.dataDir, log }) : undefined;
    const pool = createPool({ connectionString: config.databaseUrl ?? embedded?.url ?? "", max: 2, log });
    try {
      // An interruption waits for the statement under way: each migration is applied as a whole or not at all.
      return (await Promise.race([migrate(pool), interrupted])).applied;
    } finally {
      await pool.end();
      await embedded?.stop();
    }
  });
}

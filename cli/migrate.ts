import type { Command } from "commander";
import { bringUpToDate } from "@/lib/database/bring-up-to-date";
import { openDatabase } from "@/lib/service/start";
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
    const database = await openDatabase(config, log);
    const work = bringUpToDate(database, log);
    try {
      return (await Promise.race([work, interrupted])).applied;
    } finally {
      // An interruption waits for what is under way: nothing is left half done, and the embedded database is not stopped under it.
      await work.catch(() => undefined);
      await database.stop();
    }
  });
}

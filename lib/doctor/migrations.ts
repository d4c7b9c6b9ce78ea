import type pg from "pg";
import { examineMigrations } from "@/prisma/migrate";
import { type Check, check } from "./check";

/** Whether the database's tables are those of this version: all applied, none newer, none changed. Writes nothing. */
export function checkMigrations(pool: pg.Pool): Promise<Check> {
  return check("migrations", async (found) => {
    const { applied, pending, faults } = await examineMigrations(pool);
    found.failures.push(...faults);
    if (pending.length > 0)
      found.failures.push(`${pending.length} not applied (${pending.join(", ")}): run \`countersign migrate\`.`);
    found.facts.push(`All ${applied.length} applied, none changed.`);
  });
}

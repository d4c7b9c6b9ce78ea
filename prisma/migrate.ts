import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ClientBase, Pool } from "pg";

/** `dir`: the folder of the migrations, when not the one that belongs to this build. `lockTimeoutMs`: default 60,000. */
export type MigrateOptions = { dir?: string; lockTimeoutMs?: number };

type Migration = { name: string; sql: string; checksum: string };
type AppliedRow = { migration_name: string; checksum: string; finished_at: Date | null };

/** The key that Prisma's own engine locks: `prisma migrate deploy` and this migrator exclude each other. */
const LOCK_KEY = 72707369;

/** The table as Prisma's engine creates it. */
const CREATE_TABLE = `CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum VARCHAR(64) NOT NULL,
  finished_at TIMESTAMPTZ,
  migration_name VARCHAR(255) NOT NULL,
  logs TEXT,
  rolled_back_at TIMESTAMPTZ,
  started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

/**
 * Applies the migrations that this database lacks, in the order of their names, each in a transaction of its own together
 * with its row, and returns their names. Safe to call at the same moment in several processes: the others wait, at most
 * `lockTimeoutMs`. Throws, having changed nothing, when an applied migration is unknown here, was changed or never finished;
 * throws the database's error with the migration's name when one fails, those before it stay applied.
 * A client must not be inside a transaction.
 */
export async function migrate(db: Pool | ClientBase, options: MigrateOptions = {}): Promise<{ applied: string[] }> {
  if (!(db instanceof Pool)) return migrateLocked(db, options);
  const client = await db.connect();
  try {
    const result = await migrateLocked(client, options);
    client.release();
    return result;
  } catch (error) {
    client.release(true); // whatever state the session is in, it ends here, and the lock with it
    throw error;
  }
}

/** Names the migrations of this build that the database lacks, in order. Writes nothing and takes no lock. */
export async function pendingMigrations(db: Pool | ClientBase, options: MigrateOptions = {}): Promise<string[]> {
  return (await examineMigrations(db, options)).pending;
}

/**
 * What is applied and what is pending, and in a sentence each why `migrate` would refuse: unknown here, never finished, or changed. Writes
 * nothing and takes no lock.
 */
export async function examineMigrations(
  db: Pool | ClientBase,
  options: MigrateOptions = {},
): Promise<{ applied: string[]; pending: string[]; faults: string[] }> {
  const migrations = await readMigrations(options.dir);
  const rows = (await hasTable(db)) ? await readApplied(db) : [];
  const faults = rows.flatMap((row) => {
    try {
      checkApplied(row, migrations);
      return [];
    } catch (error) {
      return [(error as Error).message];
    }
  });
  const applied = rows.filter((row) => row.finished_at).map((row) => row.migration_name);
  const pending = migrations.map(({ name }) => name).filter((name) => !applied.includes(name));
  return { applied, pending, faults };
}

async function migrateLocked(client: ClientBase, options: MigrateOptions): Promise<{ applied: string[] }> {
  const migrations = await readMigrations(options.dir);
  await client.query(`SET lock_timeout = ${Math.trunc(options.lockTimeoutMs ?? 60_000)}`);
  try {
    await client.query("SELECT pg_advisory_lock($1)", [LOCK_KEY]);
  } finally {
    await client.query("RESET lock_timeout");
  }
  try {
    // A role that may not create tables may start on a database that is up to date.
    if (!(await hasTable(client))) await client.query(CREATE_TABLE);
    const rows = await readApplied(client);
    for (const row of rows) checkApplied(row, migrations);
    const known = new Set(rows.map((row) => row.migration_name));
    const pending = migrations.filter((migration) => !known.has(migration.name));
    for (const migration of pending) await apply(client, migration);
    return { applied: pending.map((migration) => migration.name) };
  } finally {
    // Fails only when the connection is lost: then the lock is gone too, and the first error is the one to report.
    await client.query("SELECT pg_advisory_unlock($1)", [LOCK_KEY]).catch(() => undefined);
  }
}

function checkApplied(row: AppliedRow, migrations: Migration[]): void {
  const migration = migrations.find((candidate) => candidate.name === row.migration_name);
  if (!migration) {
    throw new Error(`Migration ${row.migration_name} is unknown here: this database was written by a newer version.`);
  }
  if (!row.finished_at) throw new Error(`Migration ${row.migration_name} was begun and did not finish.`);
  if (row.checksum !== migration.checksum) {
    throw new Error(`Migration ${row.migration_name} was changed after it had been applied to this database.`);
  }
}

async function apply(client: ClientBase, migration: Migration): Promise<void> {
  await client.query("BEGIN");
  try {
    await client.query(migration.sql);
    await client.query(
      `INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
       VALUES ($1, $2, $3, now(), clock_timestamp(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await client.query("COMMIT");
  } catch (cause) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw new Error(`Migration ${migration.name} failed: ${cause instanceof Error ? cause.message : cause}`, { cause });
  }
}

async function hasTable(db: Pool | ClientBase): Promise<boolean> {
  const table = await db.query<{ exists: boolean }>("SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists");
  return table.rows[0]?.exists === true;
}

async function readApplied(db: Pool | ClientBase): Promise<AppliedRow[]> {
  const result = await db.query<AppliedRow>(
    "SELECT migration_name, checksum, finished_at FROM _prisma_migrations WHERE rolled_back_at IS NULL",
  );
  return result.rows;
}

async function readMigrations(dir: string = findMigrations()): Promise<Migration[]> {
  const entries = await readdir(dir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  if (names.length === 0) throw new Error(`No migrations in ${dir}.`);
  return Promise.all(
    names.sort().map(async (name) => {
      const sql = await readFile(join(dir, name, "migration.sql"));
      return { name, sql: sql.toString("utf8"), checksum: createHash("sha256").update(sql).digest("hex") };
    }),
  );
}

/** Beside this file in the sources; from a bundle in `dist/` one step up. */
function findMigrations(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const beside = join(here, "migrations");
  return existsSync(beside) ? beside : join(here, "..", "prisma", "migrations");
}

import pg from "pg";
import { migrate, pendingMigrations } from "@/prisma/migrate";
import { grantRuntime } from "./grant";

/** What is said while a database is brought up to date; a `Logger` is one. */
export type Notes = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
};

/** `url`: as which the service runs. `ownerUrl`: who owns the tables; absent, that is the role of `url` too. */
export type DatabaseAddress = { url: string; ownerUrl: string | undefined };

/**
 * Applies the migrations that the database lacks as the owner of its tables, and gives the role that serves its rights (`grantRuntime`).
 * Returns the names of what was applied. Throws as `migrate` does, and where the two addresses name two databases, or the role may not
 * apply what is pending. No limit of time is on a statement: a migration takes what it takes.
 */
export async function bringUpToDate({ url, ownerUrl }: DatabaseAddress, log: Notes): Promise<{ applied: string[] }> {
  const owner = openPool(ownerUrl ?? url);
  try {
    const { applied } = await migrate(owner).catch((error: Error) => {
      throw isRefused(error) && ownerUrl === undefined ? new Error(ownerNeeded(error), { cause: error }) : error;
    });
    if (ownerUrl !== undefined) await serve(owner, url, log);
    return { applied };
  } finally {
    await owner.end();
  }
}

/** Makes the database ready for the role of `url`, and sees that it is the same database. */
async function serve(owner: pg.Pool, url: string, log: Notes): Promise<void> {
  const runtime = openPool(url);
  try {
    const role = await roleOf(runtime);
    if (role === (await roleOf(owner)))
      log.warn({ role }, "DATABASE_OWNER_URL and DATABASE_URL are one role: it can take the guard off the history");
    else {
      const statements = await grantRuntime(owner, role);
      if (statements.length > 0) log.info({ role, changes: statements.length }, "gave the role that serves its rights");
    }
    const pending = await pendingMigrations(runtime);
    if (pending.length > 0)
      throw new Error("DATABASE_OWNER_URL and DATABASE_URL name two databases: both must name the same one.");
  } finally {
    await runtime.end();
  }
}

async function roleOf(db: pg.Pool): Promise<string> {
  const { rows } = await db.query<{ role: string }>(`SELECT current_user::text AS "role"`);
  if (!rows[0]) throw new Error("the database named no role");
  return rows[0].role;
}

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: 5_000,
    application_name: "countersign migrate",
  });
  pool.on("error", () => undefined); // the next query says so
  return pool;
}

/** SQLSTATE 42501, of the error itself or of the migration that it stopped. */
const isRefused = (error: Error): boolean =>
  [error, error.cause].some((each) => each instanceof Error && (each as { code?: string }).code === "42501");

const ownerNeeded = (error: Error) =>
  `The role of DATABASE_URL may not bring the database up to date: ${error.message} Run \`countersign migrate\` with DATABASE_OWNER_URL, the role that owns the tables.`;

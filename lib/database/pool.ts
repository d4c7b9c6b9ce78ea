import pg from "pg";
import type { Logger } from "../log";

/**
 * The process's one pool of connections; Prisma and the hot paths share it. `max` connections, 5 s to get one, 15 s a statement; a connection
 * on which nothing comes back for 20 s is given up, for then the database can no longer say that it took too long.
 */
export function createPool(options: { connectionString: string; max: number; log: Logger }): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.connectionString,
    max: options.max,
    connectionTimeoutMillis: 5_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    statement_timeout: 15_000,
    query_timeout: 20_000,
    application_name: "countersign",
  });
  // An idle connection that breaks must not end the process; the next query makes a new one.
  pool.on("error", (error) =>
    options.log.warn({ err: { message: error.message } }, "an idle database connection broke"),
  );
  return pool;
}

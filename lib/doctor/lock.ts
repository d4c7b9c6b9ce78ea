import type pg from "pg";

/** Holds off every other doctor on this database while `work` runs. Throws at once where one is at work. */
export async function withDoctorLock<T>(pool: pg.Pool, work: () => Promise<T>): Promise<T> {
  const db = await pool.connect();
  try {
    const { rows } = await db.query<{ held: boolean }>(
      `SELECT pg_try_advisory_lock(hashtextextended('countersign/doctor', 0)) AS "held"`,
    );
    if (!rows[0]?.held) throw new Error("Another doctor is at work on this database: wait until it has ended.");
    return await work();
  } finally {
    // At once, and not when the session has ended: whoever comes next must not find it held. On a lost connection it is gone already.
    await db.query("SELECT pg_advisory_unlock_all()").catch(() => undefined);
    db.release(true);
  }
}

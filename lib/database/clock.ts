import type pg from "pg";

/** The database's clock, by which deadlines and the age of a sign-in are judged (I6). */
export async function readClock(db: Pick<pg.Pool, "query">): Promise<Date> {
  const { rows } = await db.query<{ now: Date }>({ name: "clock", text: `SELECT clock_timestamp() AS "now"` });
  if (!rows[0]) throw new Error("the database told no time");
  return rows[0].now;
}

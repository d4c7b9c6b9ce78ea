import type pg from "pg";
import { type Check, check } from "./check";

const toleranceMs = 2_000;

/** The database's clock judges deadlines and this machine's dates what is signed: they may differ by two seconds. */
export function checkClock(pool: pg.Pool): Promise<Check> {
  return check("clock", async (found) => {
    await pool.query("SELECT 1"); // so that no connection is made while the clock is read
    const before = Date.now();
    const { rows } = await pool.query<{ now: Date }>(`SELECT clock_timestamp() AS "now"`);
    const after = Date.now();
    const theirs = rows[0]?.now.getTime() ?? 0;
    const aheadMs = theirs > after ? theirs - after : Math.min(theirs - before, 0);
    if (Math.abs(aheadMs) > toleranceMs)
      found.failures.push(
        `The database's clock is ${Math.abs(aheadMs / 1000).toFixed(1)} s ${aheadMs > 0 ? "ahead of" : "behind"} this machine's: set both by NTP.`,
      );
    found.facts.push("Within two seconds of the database's.");
  });
}

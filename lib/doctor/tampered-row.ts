import { randomBytes } from "node:crypto";
import type pg from "pg";
import { consume } from "../approvals/consume";
import { findForClient } from "../approvals/find";
import { statusAnswer } from "../approvals/status";
import { Problem } from "../problem";
import type { Service } from "../process";
import { type Check, check } from "./check";
import type { Scratch, ScratchApproval } from "./scratch";

/** What somebody might write who has the database and not the secret (I17). `$1` is the approval. */
const forgeries = [
  { what: "a longer time to act", sql: `"act_by" = "act_by" + INTERVAL '1 hour'` },
  { what: "another person", sql: `"subject_sub" = 'somebody-else'` },
  { what: "another caller", sql: `"caller_sub" = 'somebody-else'` },
  { what: "another action", sql: `"action_digest" = 'sha256:' || repeat('0', 64)` },
  { what: "another record", sql: `"record" = split_part("record", '.', 1) || '.e30.' || split_part("record", '.', 3)` },
  {
    what: "another receipt",
    sql: `"receipt" = split_part("receipt", '.', 1) || '.e30.' || split_part("receipt", '.', 3)`,
  },
];

/**
 * Writes each forgery into the row of an accepted scratch approval, in a transaction that is rolled back, and asks for the right to run as it
 * is seen there: it must be refused. Nothing of it is ever committed, and no alarm is raised for it.
 */
export function checkTamperedRow(service: Service, scratch: Scratch, approval: ScratchApproval): Promise<Check> {
  return check("tampered row", async (found) => {
    const { key, caller } = scratch;
    const { id, action } = approval;
    for (const { what, sql } of forgeries) {
      await rolledBack(service, async (seen, db) => {
        const { rowCount } = await db.query(`UPDATE "approval" SET ${sql} WHERE "id" = $1`, [id]);
        if (rowCount !== 1) throw new Error("The scratch approval is gone.");
        const consumerToken = randomBytes(32).toString("base64url");
        if (!(await isRefused(() => consume(seen, key, id, { caller, consumerToken, action }))))
          found.failures.push(
            `A row that was changed to ${what} was granted the right to run: STOP the service and tell us.`,
          );
      });
    }
    await rolledBack(service, async (seen, db) => {
      await db.query(`UPDATE "approval" SET "receipt" = 'e30.e30.e30' WHERE "id" = $1`, [id]);
      const read = await findForClient(seen, key, id);
      if (!(await isRefused(() => statusAnswer(seen, read))))
        found.failures.push("A row with a forged receipt was read out as accepted: STOP the service and tell us.");
    });
    found.facts.push(`${forgeries.length + 1} forgeries refused.`);
  });
}

async function isRefused(ask: () => Promise<unknown>): Promise<boolean> {
  return ask().then(
    () => false,
    (error: unknown) => {
      if (error instanceof Problem && error.code === "integrity_failed") return true;
      throw error;
    },
  );
}

/** `seen` is the service as this transaction shows its rows. What it would write on a connection of its own is left out. */
async function rolledBack(service: Service, work: (seen: Service, db: pg.PoolClient) => Promise<void>): Promise<void> {
  const db = await service.pool.connect();
  const nowhere = { query: async () => ({ rows: [], rowCount: 1 }), release: () => undefined };
  const pool = { query: db.query.bind(db), connect: async () => nowhere } as unknown as pg.Pool;
  try {
    await db.query("BEGIN");
    await work({ ...service, pool }, db);
  } finally {
    await db.query("ROLLBACK").catch(() => undefined);
    // A connection that may not have rolled back is not used again.
    db.release(true);
  }
}

import type pg from "pg";
import { kidOf } from "../keys/kid-of";
import type { Service } from "../process";
import { type Approval, isLapsed, statusAt } from "./approval";
import { endBySystem } from "./end";
import { type Clocked, readApproval } from "./store";

/**
 * Withdraws as `key_revoked` what could still be decided or consumed and has a record or receipt by this signing key; what is over by the
 * clock is expired or lapses instead. To be called while the key still verifies and another one signs. A row that cannot be verified is
 * passed over: nothing can come of it. Returns the ids of what was ended.
 */
export async function withdrawSignedBy(service: Service, db: Pick<pg.Pool, "query">, kid: string): Promise<string[]> {
  const { rows } = await db.query<{ id: string; record: string; receipt: string | null }>(liveSql);
  const signed = rows.filter(
    (row) => kidOf(row.record) === kid || (row.receipt !== null && kidOf(row.receipt) === kid),
  );
  const ended: string[] = [];
  for (const { id } of signed) {
    const read = await readApproval(db, id);
    if (read && (await endBySystem(service, db, read, endingOf(read)))) ended.push(id);
  }
  return ended;
}

function endingOf({ approval, now }: Clocked<Approval>): Parameters<typeof endBySystem>[3] {
  if (statusAt(approval, now) === "expired") return { kind: "expire" };
  return isLapsed(approval, now) ? { kind: "lapse" } : { kind: "withdraw", reason: "key_revoked" };
}

// The headers alone, as a token of nothing: a record may be long.
const headersSql = `"id", split_part("record", '.', 1) || '..' AS "record", split_part("receipt", '.', 1) || '..' AS "receipt"`;
const liveSql = `
SELECT ${headersSql} FROM "approval" WHERE "status" = 'pending'
UNION ALL
SELECT ${headersSql} FROM "approval" WHERE "status" = 'accepted' AND "settled_at" IS NULL AND "consumed_at" IS NULL`;

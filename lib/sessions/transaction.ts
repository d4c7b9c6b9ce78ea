import { newId } from "../ids/new-id";
import type { Service } from "../process";

/** How long somebody may take at their provider. */
export const transactionSeconds = 600;

/** A step-up or a link under way at a provider. */
export type Transaction = {
  id: string;
  purpose: "step_up" | "link";
  sid: string;
  userId: string;
  provider: string;
  /** The approval that a step-up is for; null for one of the account page, and for a link. */
  approvalId: string | null;
  /** Milliseconds since the epoch, by the database's clock. */
  startedAt: number;
};

/** Begins a transaction for the session of a request; those that nobody finished go. */
export async function beginTransaction(
  service: Pick<Service, "pool">,
  of: Omit<Transaction, "id" | "startedAt">,
): Promise<Transaction> {
  await service.pool.query(
    `DELETE FROM "sign_in_transaction" WHERE "expires_at" < clock_timestamp() - INTERVAL '1 hour'`,
  );
  const id = newId("sit");
  const { rows } = await service.pool.query<{ started_at: Date }>(
    `INSERT INTO "sign_in_transaction" ("id", "purpose", "sid", "user_id", "provider", "approval_id", "started_at", "expires_at")
     SELECT $1, $2, $3, $4, $5, $6, c."now", c."now" + make_interval(secs => $7) FROM (SELECT clock_timestamp() AS "now") c RETURNING "started_at"`,
    [id, of.purpose, of.sid, of.userId, of.provider, of.approvalId, transactionSeconds],
  );
  const startedAt = rows[0]?.started_at.getTime();
  if (startedAt === undefined) throw new Error("a row that was written was not returned");
  return { id, ...of, startedAt };
}

/**
 * Takes a transaction, once: before anything that it leads to is looked at, so that nothing can be tried twice. The database's clock at
 * that moment, or undefined: used before, too old, or not what began. What it is comes from the encrypted cookie; the row can only
 * refuse it (I17).
 */
export async function takeTransaction(service: Pick<Service, "pool">, of: Transaction): Promise<Date | undefined> {
  const { rows } = await service.pool.query<{ used_at: Date }>(
    `UPDATE "sign_in_transaction" SET "used_at" = clock_timestamp()
     WHERE "id" = $1 AND "used_at" IS NULL AND "expires_at" > clock_timestamp() AND "purpose" = $2 AND "sid" = $3 AND "user_id" = $4
       AND "provider" = $5 AND "approval_id" IS NOT DISTINCT FROM $6 AND "started_at" = to_timestamp($7::double precision / 1000)
       AND "started_at" > clock_timestamp() - make_interval(secs => $8)
     RETURNING "used_at"`,
    [of.id, of.purpose, of.sid, of.userId, of.provider, of.approvalId, of.startedAt, transactionSeconds],
  );
  return rows[0]?.used_at;
}

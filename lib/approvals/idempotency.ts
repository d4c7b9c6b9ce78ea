import type pg from "pg";
import { Problem } from "../problem";
import { isOneOf } from "../secrets/mac";
import type { Tags } from "./tags";

/** An `Idempotency-Key` with the tags of the request's body. */
export type Idempotency = { key: string; bodyTags: Tags };

/** The approval that an earlier request with this key made, within 24 hours. Errors: `idempotency_key_reused` where its body was another. */
export async function readIdempotent(
  db: Pick<pg.Pool, "query">,
  clientId: string,
  idempotency: Idempotency,
): Promise<string | undefined> {
  const { rows } = await db.query<{ body_tag: Buffer; approval_id: string }>(
    `SELECT "body_tag", "approval_id" FROM "idempotency_key"
     WHERE "client_id" = $1 AND "route" = 'mint' AND "key" = $2 AND "created_at" > clock_timestamp() - INTERVAL '24 hours'`,
    [clientId, idempotency.key],
  );
  const row = rows[0];
  if (row && !isOneOf(idempotency.bodyTags, row.body_tag))
    throw new Problem("idempotency_key_reused", {
      detail: "This Idempotency-Key belongs to a request with another body.",
    });
  return row?.approval_id;
}

/** Remembers that a request was answered with an approval that another request had made. */
export async function rememberReused(
  db: Pick<pg.Pool, "query">,
  clientId: string,
  idempotency: Idempotency,
  approvalId: string,
): Promise<void> {
  await db.query(
    `INSERT INTO "idempotency_key" ("client_id", "route", "key", "body_tag", "approval_id", "created_at")
     VALUES ($1, 'mint', $2, $3, $4, clock_timestamp()) ON CONFLICT DO NOTHING`,
    [clientId, idempotency.key, idempotency.bodyTags[0], approvalId],
  );
}

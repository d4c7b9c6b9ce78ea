import type pg from "pg";
import { kidOf } from "../keys/kid-of";
import { isSubjectKnownSql } from "../users/known-subject";
import type { Idempotency } from "./idempotency";

export type NewApproval = {
  id: string;
  clientId: string;
  keyId: string;
  tool: string;
  argumentNames: string[];
  title: string;
  retainTitle: boolean;
  caller: { iss: string; sub: string; clientId?: string | undefined };
  actionDigest: string;
  policyVersion: number;
  record: string;
  actionTag: Buffer;
  /** The tags of the same action under every secret in use, `actionTag` among them. */
  actionTags: Buffer[];
  reuseTag: Buffer | null;
  matchTag: Buffer | null;
  /** The tags of the same code under the other secrets in use. */
  otherMatchTags: Buffer[];
  createdAt: Date;
  expiresAt: Date;
  actBySeconds: number;
  metadata: object | null;
  traceContext: string | null;
};

export type MintLimits = { maxPending: number; maxPerHour: number; findLive: boolean };
export type MintIdempotency = Idempotency | undefined;

export type MintVerdict =
  /** `isSubjectKnown`: the person, as this subject or as one that an admin has linked, has signed in here before. */
  | { verdict: "minted"; isSubjectKnown: boolean }
  /** Another pending approval of the person has the same confirmation code: mint under another id. */
  | { verdict: "code_taken" }
  /** The key that signed the record was revoked meanwhile: sign with another one. */
  | { verdict: "key_revoked" }
  | { verdict: "replay" }
  | { verdict: "live"; liveIds: string[] }
  | { verdict: "recently_declined"; until: Date; now: Date }
  | { verdict: "mint_rate"; oldestRecent: Date; now: Date }
  | { verdict: "credential_changed" | "frozen" | "clock_skew" | "too_many_pending" };

/**
 * Judges and inserts in one statement: key and policy version as they are now, freeze, cool-down, limits, the idempotency key,
 * then the approval with its audit event, all or none (I8). Mints of one client for one person are serialised by
 * `mint_window`, so its counts include every mint before this one.
 */
export async function insertApproval(
  db: Pick<pg.Pool, "query">,
  approval: NewApproval,
  limits: MintLimits,
  idempotency: MintIdempotency,
): Promise<MintVerdict> {
  const row = await runInsert(db, valuesOf(approval, limits, idempotency));
  if (row === "code_taken") return { verdict: row };
  switch (row.verdict) {
    case "minted":
      return row.inserted ? { verdict: "minted", isSubjectKnown: row.is_subject_known } : { verdict: "replay" };
    case "live":
      return { verdict: "live", liveIds: row.live_ids };
    case "recently_declined":
      return { verdict: row.verdict, until: row.declined_until ?? row.at, now: row.at };
    case "mint_rate":
      return { verdict: row.verdict, oldestRecent: row.oldest_recent ?? row.at, now: row.at };
    default:
      return { verdict: row.verdict };
  }
}

async function runInsert(db: Pick<pg.Pool, "query">, values: unknown[]): Promise<VerdictRow | "code_taken"> {
  try {
    const { rows } = await db.query<VerdictRow>({ name: "approval-insert", text: insertSql, values });
    if (!rows[0]) throw new Error("the mint statement gave no verdict");
    return rows[0];
  } catch (error) {
    if ((error as { constraint?: string }).constraint === "approval_match_key") return "code_taken";
    throw error;
  }
}

type VerdictRow = {
  verdict: MintVerdict["verdict"] & Exclude<MintVerdict["verdict"], "replay">;
  inserted: boolean;
  is_subject_known: boolean;
  live_ids: string[];
  declined_until: Date | null;
  oldest_recent: Date | null;
  at: Date;
};

/** How far the process's clock, which dates the record, may be from the database's, which judges it. */
export const clockToleranceSeconds = 5;

const insertSql = `
WITH credential AS MATERIALIZED (
  SELECT k."revoked_at" IS NULL AND c."disabled_at" IS NULL AND c."policy_version" = $3 AS "holds"
  FROM "api_key" k JOIN "client" c ON c."id" = k."client_id" WHERE k."key_id" = $2 AND c."id" = $1),
counted AS MATERIALIZED (SELECT w.*, clock_timestamp() AS "at" FROM mint_window($1, $4, $5, $28, $7) w),
judged AS MATERIALIZED (
  SELECT w.*, CASE
    WHEN NOT coalesce((SELECT "holds" FROM credential), false) THEN 'credential_changed'
    WHEN EXISTS (SELECT 1 FROM "signing_key" s WHERE s."kid" = $30 AND s."status" = 'revoked') THEN 'key_revoked'
    WHEN w."frozen" THEN 'frozen'
    WHEN abs(extract(epoch FROM w."at" - $8::timestamptz)) > ${clockToleranceSeconds} THEN 'clock_skew'
    WHEN cardinality(w."live_ids") > 0 THEN 'live'
    WHEN w."declined_until" IS NOT NULL THEN 'recently_declined'
    WHEN w."pending" >= $9 THEN 'too_many_pending'
    WHEN w."recent" >= $10 THEN 'mint_rate'
    -- Under the current secret the index keeps codes apart; under another one this does. It waits for its turn, so it comes last.
    WHEN is_code_taken($4, $5, $29) THEN 'code_taken'
    ELSE 'minted' END AS "verdict"
  FROM counted w),
remembered AS (
  INSERT INTO "idempotency_key" AS i ("client_id", "route", "key", "body_tag", "approval_id", "created_at")
  SELECT $1, 'mint', $11, $12, $13, "at" FROM judged WHERE "verdict" = 'minted' AND $11::text IS NOT NULL
  ON CONFLICT ("client_id", "route", "key") DO UPDATE SET "body_tag" = excluded."body_tag", "approval_id" = excluded."approval_id", "created_at" = excluded."created_at"
    WHERE i."created_at" < excluded."created_at" - INTERVAL '24 hours'
  RETURNING 1),
inserted AS (
  INSERT INTO "approval" ("id", "client_id", "tool", "argument_names", "title", "retain_title", "caller_iss", "caller_sub", "caller_client_id",
    "subject_iss", "subject_sub", "action_digest", "policy_version", "record", "action_tag", "reuse_tag", "match_tag", "created_at", "expires_at", "act_by_seconds", "trace_context")
  SELECT $13, $1, $14, $15, $16, $17, $4, $5, $18, $4, $5, $19, $3, $20, $6, $21, $27, $8, $22, $23, $31
  FROM judged WHERE "verdict" = 'minted' AND ($11::text IS NULL OR EXISTS (SELECT 1 FROM remembered))
  RETURNING "id"),
audited AS (
  INSERT INTO "audit_event" ("at", "type", "approval_id", "approval_seq", "client_id", "tool", "actor", "metadata", "data")
  SELECT j."at", 'approval.minted', i."id", 1, $1, $14, $24::jsonb, $25::jsonb, $26::jsonb FROM inserted i, judged j)
SELECT "verdict", "live_ids", "declined_until", "oldest_recent", "at", EXISTS (SELECT 1 FROM inserted) AS "inserted", ${isSubjectKnownSql("$4", "$5")} AS "is_subject_known" FROM judged`;

function valuesOf(a: NewApproval, limits: MintLimits, idempotency: MintIdempotency): unknown[] {
  return [
    a.clientId,
    a.keyId,
    a.policyVersion,
    a.caller.iss,
    a.caller.sub,
    a.actionTag,
    limits.findLive,
    a.createdAt,
    limits.maxPending,
    limits.maxPerHour,
    idempotency?.key ?? null,
    idempotency?.bodyTags[0] ?? null,
    a.id,
    a.tool,
    a.argumentNames,
    a.title,
    a.retainTitle,
    a.caller.clientId ?? null,
    a.actionDigest,
    a.record,
    a.reuseTag,
    a.expiresAt,
    a.actBySeconds,
    JSON.stringify({ kind: "client", keyId: a.keyId }),
    a.metadata === null ? null : JSON.stringify(a.metadata),
    JSON.stringify({ argumentNames: a.argumentNames }),
    a.matchTag,
    a.actionTags,
    a.otherMatchTags,
    kidOf(a.record) ?? "",
    a.traceContext,
  ];
}

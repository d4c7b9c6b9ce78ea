import { randomBytes } from "node:crypto";
import type pg from "pg";

/** How long an authenticator has to answer. */
export const challengeSeconds = 120;

export type ChallengePurpose = "register" | "decide" | "sign_in";

/** What a challenge is for: a `sign_in` with a `sid` is a step-up of that session. */
export type ChallengeBinding = {
  purpose: ChallengePurpose;
  sid?: string;
  approvalId?: string;
};

export type TakenChallenge = { nonce: string | undefined; issuedAt: Date };

/**
 * Stores a question to an authenticator, good for one answer within 120 s by the database's clock. `challenge` (base64url) is made at
 * random, 256 bits, where none is given; `issuedAt` is now where it is not given.
 */
export async function issueChallenge(
  pool: Pick<pg.Pool, "query">,
  of: ChallengeBinding & { nonce?: string; challenge?: string; issuedAt?: Date },
): Promise<{ challenge: string; issuedAt: Date }> {
  const challenge = of.challenge ?? randomBytes(32).toString("base64url");
  await dropOldest(pool, of);
  const { rows } = await pool.query<{ issued_at: Date }>(
    `INSERT INTO "passkey_challenge" ("challenge", "purpose", "sid", "approval_id", "nonce", "issued_at", "expires_at")
     SELECT $1, $2, $3, $4, $5, i."at", i."at" + make_interval(secs => $7)
     FROM (SELECT coalesce($6::timestamptz, clock_timestamp()) AS "at") i RETURNING "issued_at"`,
    [
      challenge,
      of.purpose,
      of.sid ?? null,
      of.approvalId ?? null,
      of.nonce ?? null,
      of.issuedAt ?? null,
      challengeSeconds,
    ],
  );
  const issuedAt = rows[0]?.issued_at;
  if (!issuedAt) throw new Error("the challenge was not stored");
  return { challenge, issuedAt };
}

/** As many as somebody can have on their screens; a script that asks again and again fills nothing. */
const openMax = 5;

async function dropOldest(pool: Pick<pg.Pool, "query">, { purpose, sid, approvalId }: ChallengeBinding): Promise<void> {
  await pool.query(
    `DELETE FROM "passkey_challenge" WHERE "challenge" IN (SELECT "challenge" FROM "passkey_challenge"
       WHERE "purpose" = $1 AND "sid" IS NOT DISTINCT FROM $2 AND "approval_id" IS NOT DISTINCT FROM $3
       ORDER BY "issued_at" DESC OFFSET $4)`,
    [purpose, sid ?? null, approvalId ?? null, openMax - 1],
  );
}

/**
 * Takes a challenge away, whatever comes of its answer, and returns it where it was issued for exactly this purpose, session and
 * approval and has not expired by the database's clock; else undefined. Of two takers one gets it. The row is not authenticated: the
 * caller computes the challenge anew from what it returns (I17).
 */
export async function takeChallenge(
  pool: Pick<pg.Pool, "query">,
  of: ChallengeBinding & { challenge: string },
): Promise<TakenChallenge | undefined> {
  const { rows } = await pool.query<ChallengeRow>(
    `DELETE FROM "passkey_challenge" WHERE "challenge" = $1
     RETURNING "purpose", "sid", "approval_id", "nonce", "issued_at",
       least("expires_at", "issued_at" + make_interval(secs => $2)) > clock_timestamp() AS "is_live"`,
    [of.challenge, challengeSeconds],
  );
  const row = rows[0];
  if (!row?.is_live || row.purpose !== of.purpose) return undefined;
  if (row.sid !== (of.sid ?? null) || row.approval_id !== (of.approvalId ?? null)) return undefined;
  return { nonce: row.nonce ?? undefined, issuedAt: row.issued_at };
}

/** Removes what nobody answered in time. Returns how many. */
export async function dropExpiredChallenges(pool: Pick<pg.Pool, "query">): Promise<number> {
  const { rowCount } = await pool.query(`DELETE FROM "passkey_challenge" WHERE "expires_at" < clock_timestamp()`);
  return rowCount ?? 0;
}

type ChallengeRow = {
  purpose: string;
  sid: string | null;
  approval_id: string | null;
  nonce: string | null;
  issued_at: Date;
  is_live: boolean;
};

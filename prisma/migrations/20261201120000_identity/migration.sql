-- AlterTable
ALTER TABLE "user" ALTER COLUMN "email" DROP NOT NULL,
ADD COLUMN "contact" TEXT,
ADD COLUMN "roles_mac" BYTEA;

-- AlterTable
ALTER TABLE "identity" ADD COLUMN "last_sign_in_at" TIMESTAMPTZ(3);

-- AlterTable
ALTER TABLE "approval" ADD COLUMN "match_tag" BYTEA;

-- CreateTable
CREATE TABLE "passkey" (
    "credential_id" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "iss" TEXT NOT NULL,
    "sub" TEXT NOT NULL,
    "public_key" BYTEA NOT NULL,
    "counter" BIGINT NOT NULL,
    "transports" TEXT[],
    "is_backed_up" BOOLEAN NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "last_used_at" TIMESTAMPTZ(3),
    "mac" BYTEA NOT NULL,

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("credential_id")
);

-- CreateTable
CREATE TABLE "passkey_challenge" (
    "challenge" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "sid" TEXT,
    "approval_id" TEXT,
    "nonce" TEXT,
    "issued_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "passkey_challenge_pkey" PRIMARY KEY ("challenge")
);

-- CreateTable
CREATE TABLE "sign_in_transaction" (
    "id" TEXT NOT NULL,
    "purpose" TEXT NOT NULL,
    "sid" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "provider" TEXT NOT NULL,
    "approval_id" TEXT,
    "started_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "used_at" TIMESTAMPTZ(3),

    CONSTRAINT "sign_in_transaction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "throttle" (
    "key" BYTEA NOT NULL,
    "failures" INTEGER NOT NULL,
    "last_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "throttle_pkey" PRIMARY KEY ("key")
);

-- CreateIndex
CREATE INDEX "passkey_user_id_idx" ON "passkey"("user_id");

-- CreateIndex
CREATE INDEX "passkey_challenge_expires_at_idx" ON "passkey_challenge"("expires_at");

-- CreateIndex
CREATE INDEX "sign_in_transaction_expires_at_idx" ON "sign_in_transaction"("expires_at");

-- CreateIndex
CREATE INDEX "throttle_last_at_idx" ON "throttle"("last_at");

-- AddForeignKey
ALTER TABLE "passkey" ADD CONSTRAINT "passkey_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- What Prisma's schema cannot say follows.

-- Only a local account has an address to sign in with.
ALTER TABLE "user" ADD CONSTRAINT "user_email_local" CHECK (("email" IS NULL) = ("password_hash" IS NULL));
ALTER TABLE "identity" ADD CONSTRAINT "identity_linked_by_known" CHECK ("linked_by" IN ('self', 'sign_in', 'admin', 'self_service'));
ALTER TABLE "passkey_challenge" ADD CONSTRAINT "passkey_challenge_purpose" CHECK (
  ("purpose" IN ('register', 'decide') AND "sid" IS NOT NULL OR "purpose" = 'sign_in')
  AND ("purpose" = 'decide') = ("approval_id" IS NOT NULL AND "nonce" IS NOT NULL));
ALTER TABLE "sign_in_transaction" ADD CONSTRAINT "sign_in_transaction_purpose" CHECK ("purpose" IN ('step_up', 'link'));

-- No two approvals that wait for one person have the same confirmation code (section 6).
CREATE UNIQUE INDEX "approval_match_key" ON "approval"("match_tag") WHERE "status" = 'pending' AND "match_tag" IS NOT NULL;

ALTER TABLE "approval" DROP CONSTRAINT "approval_state";
ALTER TABLE "approval" ADD CONSTRAINT "approval_state" CHECK (CASE "status"
  WHEN 'pending' THEN "decision" IS NULL AND "reason" IS NULL AND "decided_at" IS NULL AND "act_by" IS NULL AND "receipt" IS NULL AND "settled_at" IS NULL
  WHEN 'accepted' THEN "decision" = 'accept' AND "reason" IS NULL AND "decided_at" IS NOT NULL AND "act_by" IS NOT NULL AND "receipt" IS NOT NULL
  WHEN 'declined' THEN "decision" = 'decline' AND ("reason" IS NULL OR "reason" = 'not_requested') AND "decided_at" IS NOT NULL AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  WHEN 'cancelled' THEN "decision" = 'cancel' AND "reason" IS NULL AND "decided_at" IS NOT NULL AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  WHEN 'expired' THEN "decision" IS NULL AND "reason" IS NULL AND "decided_at" IS NULL AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  WHEN 'withdrawn' THEN "reason" IN ('client_declined', 'aborted', 'superseded', 'match_failed', 'frozen', 'key_revoked', 'taken_back')
    AND (("decision" IS NULL) = ("decided_at" IS NULL)) AND ("decision" IS NULL OR "decision" = 'accept') AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  ELSE false END);
ALTER TABLE "approval" DROP CONSTRAINT "approval_erasure";
ALTER TABLE "approval" ADD CONSTRAINT "approval_erasure" CHECK (
  ("erased_at" IS NULL AND "record" IS NOT NULL)
  OR ("erased_at" IS NOT NULL AND "settled_at" IS NOT NULL AND "record" IS NULL AND "note" IS NULL AND "action_tag" IS NULL AND "reuse_tag" IS NULL AND "match_tag" IS NULL));

-- Takes the tags of an action under every secret that is in use, so that a rotation forgets no decline. Its plan is fixed: planning each
-- call anew took half of its time.
DROP FUNCTION "mint_window"(TEXT, TEXT, TEXT, BYTEA, BOOLEAN);
CREATE FUNCTION "mint_window"(p_client TEXT, p_iss TEXT, p_sub TEXT, p_action_tags BYTEA[], p_reuse BOOLEAN)
RETURNS TABLE("pending" INTEGER, "recent" INTEGER, "oldest_recent" TIMESTAMPTZ, "declined_until" TIMESTAMPTZ, "frozen" BOOLEAN, "live_ids" TEXT[])
LANGUAGE plpgsql VOLATILE SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  instant TIMESTAMPTZ;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_client || E'\n' || p_iss || E'\n' || p_sub, 0));
  instant := clock_timestamp();
  RETURN QUERY SELECT
    w."pending", w."recent", w."oldest_recent",
    (SELECT max(c."until") FROM "decline_cooldown" c WHERE c."action_tag" = ANY(p_action_tags) AND c."until" > instant),
    EXISTS (SELECT 1 FROM "freeze" f WHERE f."client_id" = p_client AND f."lifted_at" IS NULL AND (f."until" IS NULL OR f."until" > instant)
      AND (f."subject_iss" IS NULL OR (f."subject_iss" = p_iss AND f."subject_sub" = p_sub))),
    ARRAY(SELECT a."id" FROM "approval" a WHERE p_reuse AND a."action_tag" = ANY(p_action_tags) AND a."reuse_tag" IS NOT NULL
      AND (a."status" = 'pending' OR (a."status" = 'accepted' AND a."consumed_at" IS NULL AND a."act_by" > instant))
      ORDER BY a."status" = 'pending' DESC, a."created_at" DESC LIMIT 5)
  FROM (
    SELECT count(*) FILTER (WHERE a."status" = 'pending' AND a."expires_at" > instant)::INTEGER AS "pending",
      count(*) FILTER (WHERE a."created_at" > instant - INTERVAL '1 hour')::INTEGER AS "recent",
      min(a."created_at") FILTER (WHERE a."created_at" > instant - INTERVAL '1 hour') AS "oldest_recent"
    -- No approval waits longer than a day. The client is compared as an expression, so that the plan takes the person's index: that of a
    -- busy client is long.
    FROM "approval" a WHERE a."subject_iss" = p_iss AND a."subject_sub" = p_sub AND a."client_id" || '' = p_client AND a."created_at" > instant - INTERVAL '25 hours') w;
END $$;

-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "service" (
    "id" INTEGER NOT NULL DEFAULT 1,
    "issuer" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "mac" BYTEA NOT NULL,

    CONSTRAINT "service_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "client" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "policy_version" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "client_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "client_policy" (
    "client_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "policy" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "client_policy_pkey" PRIMARY KEY ("client_id","version")
);

-- CreateTable
CREATE TABLE "api_key" (
    "key_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "tools" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("key_id")
);

-- CreateTable
CREATE TABLE "user" (
    "id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "password_hash" TEXT,
    "roles" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "disabled_at" TIMESTAMPTZ(3),

    CONSTRAINT "user_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity" (
    "iss" TEXT NOT NULL,
    "sub" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "may_approve" BOOLEAN NOT NULL,
    "linked_by" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "mac" BYTEA NOT NULL,

    CONSTRAINT "identity_pkey" PRIMARY KEY ("iss","sub")
);

-- CreateTable
CREATE TABLE "session" (
    "sid" TEXT NOT NULL,
    "user_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "last_seen_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ(3),
    "user_agent" TEXT,
    "address" TEXT,

    CONSTRAINT "session_pkey" PRIMARY KEY ("sid")
);

-- CreateTable
CREATE TABLE "signing_key" (
    "kid" TEXT NOT NULL,
    "public_jwk" TEXT NOT NULL,
    "private_jwe" TEXT,
    "status" TEXT NOT NULL,
    "publish_from" TIMESTAMPTZ(3) NOT NULL,
    "active_from" TIMESTAMPTZ(3) NOT NULL,
    "retired_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "mac" BYTEA NOT NULL,

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "approval" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "tool" TEXT NOT NULL,
    "argument_names" TEXT[],
    "title" TEXT,
    "retain_title" BOOLEAN NOT NULL DEFAULT true,
    "caller_iss" TEXT NOT NULL,
    "caller_sub" TEXT NOT NULL,
    "caller_client_id" TEXT,
    "subject_iss" TEXT NOT NULL,
    "subject_sub" TEXT NOT NULL,
    "action_digest" TEXT NOT NULL,
    "policy_version" INTEGER NOT NULL,
    "record" TEXT,
    "action_tag" BYTEA,
    "reuse_tag" BYTEA,
    "match_tries" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "act_by_seconds" INTEGER NOT NULL,
    "decision" TEXT,
    "reason" TEXT,
    "decided_at" TIMESTAMPTZ(3),
    "act_by" TIMESTAMPTZ(3),
    "note" TEXT,
    "receipt" TEXT,
    "settled_at" TIMESTAMPTZ(3),
    "consumed_at" TIMESTAMPTZ(3),
    "consumer_hash" BYTEA,
    "outcome" TEXT,
    "outcome_code" TEXT,
    "outcome_at" TIMESTAMPTZ(3),
    "outcome_derived" BOOLEAN NOT NULL DEFAULT false,
    "seq" INTEGER NOT NULL DEFAULT 1,
    "version" INTEGER NOT NULL DEFAULT 1,
    "erased_at" TIMESTAMPTZ(3),

    CONSTRAINT "approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "decline_cooldown" (
    "approval_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "subject_iss" TEXT NOT NULL,
    "subject_sub" TEXT NOT NULL,
    "action_tag" BYTEA NOT NULL,
    "until" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "decline_cooldown_pkey" PRIMARY KEY ("approval_id")
);

-- CreateTable
CREATE TABLE "freeze" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "subject_iss" TEXT,
    "subject_sub" TEXT,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "until" TIMESTAMPTZ(3),
    "lifted_at" TIMESTAMPTZ(3),

    CONSTRAINT "freeze_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "client_id" TEXT NOT NULL,
    "route" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "body_tag" BYTEA NOT NULL,
    "approval_id" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("client_id","route","key")
);

-- CreateTable
CREATE TABLE "audit_event" (
    "seq" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "type" TEXT NOT NULL,
    "approval_id" TEXT,
    "approval_seq" INTEGER,
    "client_id" TEXT,
    "tool" TEXT,
    "actor" JSONB NOT NULL,
    "decision" TEXT,
    "reason" TEXT,
    "metadata" JSONB,
    "data" JSONB,

    CONSTRAINT "audit_event_pkey" PRIMARY KEY ("seq")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "type" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "approval_id" TEXT NOT NULL,
    "approval_seq" INTEGER NOT NULL,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "api_key_client_id_idx" ON "api_key"("client_id");

-- CreateIndex
CREATE UNIQUE INDEX "user_email_key" ON "user"("email");

-- CreateIndex
CREATE INDEX "identity_user_id_idx" ON "identity"("user_id");

-- CreateIndex
CREATE INDEX "session_user_id_idx" ON "session"("user_id");

-- CreateIndex
CREATE INDEX "approval_subject_iss_subject_sub_created_at_idx" ON "approval"("subject_iss", "subject_sub", "created_at");

-- CreateIndex
CREATE INDEX "approval_client_id_created_at_id_idx" ON "approval"("client_id", "created_at", "id");

-- CreateIndex
-- CreateIndex
CREATE INDEX "approval_action_tag_idx" ON "approval"("action_tag");

CREATE INDEX "decline_cooldown_action_tag_idx" ON "decline_cooldown"("action_tag");

-- CreateIndex
CREATE INDEX "freeze_client_id_idx" ON "freeze"("client_id");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE INDEX "audit_event_approval_id_seq_idx" ON "audit_event"("approval_id", "seq");

-- CreateIndex
CREATE INDEX "audit_event_type_seq_idx" ON "audit_event"("type", "seq");

-- AddForeignKey
ALTER TABLE "client_policy" ADD CONSTRAINT "client_policy_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "client"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "client"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity" ADD CONSTRAINT "identity_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "session" ADD CONSTRAINT "session_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "user"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "approval" ADD CONSTRAINT "approval_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "client"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- What Prisma's schema cannot say follows: checks, partial indexes, the append-only trigger, the lock-and-count of minting.

ALTER TABLE "service" ADD CONSTRAINT "service_single" CHECK ("id" = 1);
ALTER TABLE "user" ADD CONSTRAINT "user_email_lower" CHECK ("email" = lower("email"));
ALTER TABLE "user" ADD CONSTRAINT "user_roles_known" CHECK ("roles" <@ ARRAY['auditor', 'admin'] AND cardinality("roles") <= 1);
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_scopes_known"
  CHECK ("scopes" <@ ARRAY['approvals:create', 'approvals:read', 'approvals:consume']);
ALTER TABLE "signing_key" ADD CONSTRAINT "signing_key_private_part" CHECK (
  "status" IN ('active', 'retired', 'revoked')
  AND ("status" = 'active') = ("private_jwe" IS NOT NULL)
  AND ("status" <> 'active' OR ("retired_at" IS NULL AND "revoked_at" IS NULL)));

-- The states of section 5: a row that is none of them cannot be written.
ALTER TABLE "approval" ADD CONSTRAINT "approval_state" CHECK (CASE "status"
  WHEN 'pending' THEN "decision" IS NULL AND "reason" IS NULL AND "decided_at" IS NULL AND "act_by" IS NULL AND "receipt" IS NULL AND "settled_at" IS NULL
  WHEN 'accepted' THEN "decision" = 'accept' AND "reason" IS NULL AND "decided_at" IS NOT NULL AND "act_by" IS NOT NULL AND "receipt" IS NOT NULL
  WHEN 'declined' THEN "decision" = 'decline' AND ("reason" IS NULL OR "reason" = 'not_requested') AND "decided_at" IS NOT NULL AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  WHEN 'cancelled' THEN "decision" = 'cancel' AND "reason" IS NULL AND "decided_at" IS NOT NULL AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  WHEN 'expired' THEN "decision" IS NULL AND "reason" IS NULL AND "decided_at" IS NULL AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  WHEN 'withdrawn' THEN "reason" IN ('client_declined', 'aborted', 'superseded', 'match_failed', 'frozen', 'taken_back')
    AND (("decision" IS NULL) = ("decided_at" IS NULL)) AND ("decision" IS NULL OR "decision" = 'accept') AND "act_by" IS NULL AND "receipt" IS NOT NULL AND "settled_at" IS NOT NULL
  ELSE false END);
ALTER TABLE "approval" ADD CONSTRAINT "approval_consumption" CHECK (
  ("consumed_at" IS NULL) = ("consumer_hash" IS NULL)
  AND ("consumed_at" IS NULL OR ("status" = 'accepted' AND "consumed_at" <= "act_by")));
ALTER TABLE "approval" ADD CONSTRAINT "approval_outcome" CHECK (
  ("outcome" IS NULL) = ("outcome_at" IS NULL)
  AND ("outcome" IS NULL OR ("outcome" IN ('succeeded', 'failed', 'unknown') AND "consumed_at" IS NOT NULL AND "settled_at" IS NOT NULL))
  AND (NOT "outcome_derived" OR "outcome" = 'unknown')
  AND ("outcome_code" IS NULL OR "outcome" IS NOT NULL));
ALTER TABLE "approval" ADD CONSTRAINT "approval_erasure" CHECK (
  ("erased_at" IS NULL AND "record" IS NOT NULL)
  OR ("erased_at" IS NOT NULL AND "settled_at" IS NOT NULL AND "record" IS NULL AND "note" IS NULL AND "action_tag" IS NULL AND "reuse_tag" IS NULL));
ALTER TABLE "freeze" ADD CONSTRAINT "freeze_subject" CHECK (("subject_iss" IS NULL) = ("subject_sub" IS NULL));

-- One live approval an action where the client asked for reuse (section 6).
CREATE UNIQUE INDEX "approval_live_key" ON "approval"("action_tag") WHERE "status" = 'pending' AND "reuse_tag" IS NOT NULL;
-- What the worker looks for.
CREATE INDEX "approval_due_idx" ON "approval"("expires_at") WHERE "status" = 'pending';
CREATE INDEX "approval_unsettled_idx" ON "approval"("act_by") WHERE "status" = 'accepted' AND "settled_at" IS NULL;
CREATE INDEX "approval_erasable_idx" ON "approval"("settled_at") WHERE "erased_at" IS NULL AND "settled_at" IS NOT NULL;

CREATE FUNCTION "audit_event_append_only"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'audit_event is append-only';
END $$;
CREATE TRIGGER "audit_event_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_event"
  FOR EACH STATEMENT EXECUTE FUNCTION "audit_event_append_only"();

-- Serialises minting per client and person, then counts. A volatile function takes a new snapshot for each of its
-- statements, so what is counted includes every mint that the lock waited for; one statement of the caller could not.
CREATE FUNCTION "mint_window"(p_client TEXT, p_iss TEXT, p_sub TEXT, p_action_tag BYTEA, p_reuse BOOLEAN)
RETURNS TABLE("pending" INTEGER, "recent" INTEGER, "oldest_recent" TIMESTAMPTZ, "declined_until" TIMESTAMPTZ, "frozen" BOOLEAN, "live_ids" TEXT[])
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  instant TIMESTAMPTZ;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(p_client || E'\n' || p_iss || E'\n' || p_sub, 0));
  instant := clock_timestamp();
  RETURN QUERY SELECT
    w."pending", w."recent", w."oldest_recent",
    (SELECT max(c."until") FROM "decline_cooldown" c WHERE c."action_tag" = p_action_tag AND c."until" > instant),
    EXISTS (SELECT 1 FROM "freeze" f WHERE f."client_id" = p_client AND f."lifted_at" IS NULL AND (f."until" IS NULL OR f."until" > instant)
      AND (f."subject_iss" IS NULL OR (f."subject_iss" = p_iss AND f."subject_sub" = p_sub))),
    ARRAY(SELECT a."id" FROM "approval" a WHERE p_reuse AND a."action_tag" = p_action_tag AND a."reuse_tag" IS NOT NULL
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

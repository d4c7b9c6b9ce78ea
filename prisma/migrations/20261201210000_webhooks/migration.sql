-- AlterTable
ALTER TABLE "approval" ADD COLUMN "trace_context" TEXT;

-- AlterTable
ALTER TABLE "outbox" ADD COLUMN "event_id" UUID NOT NULL DEFAULT gen_random_uuid(),
ADD COLUMN "data" JSONB NOT NULL DEFAULT '{}',
ADD COLUMN "trace_context" TEXT,
ADD COLUMN "dispatched_at" TIMESTAMPTZ(3),
ALTER COLUMN "approval_id" DROP NOT NULL,
ALTER COLUMN "approval_seq" DROP NOT NULL;

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "events" TEXT[],
    "secret_jwe" TEXT NOT NULL,
    "previous_secret_jwe" TEXT,
    "previous_until" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failing_since" TIMESTAMPTZ(3),
    "disabled_at" TIMESTAMPTZ(3),
    "disabled_reason" TEXT,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" BIGSERIAL NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "outbox_id" BIGINT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" TIMESTAMPTZ(3) NOT NULL,
    "lease" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "id" BIGSERIAL NOT NULL,
    "delivery_id" BIGINT NOT NULL,
    "at" TIMESTAMPTZ(3) NOT NULL,
    "status_code" INTEGER,
    "error" TEXT,
    "latency_ms" INTEGER NOT NULL,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_endpoint_client_id_idx" ON "webhook_endpoint"("client_id");

-- CreateIndex
CREATE INDEX "webhook_delivery_endpoint_id_id_idx" ON "webhook_delivery"("endpoint_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_delivery_outbox_id_endpoint_id_key" ON "webhook_delivery"("outbox_id", "endpoint_id");

-- CreateIndex
CREATE INDEX "webhook_attempt_delivery_id_id_idx" ON "webhook_attempt"("delivery_id", "id");

-- CreateIndex
CREATE INDEX "outbox_at_idx" ON "outbox"("at");

-- AddForeignKey
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_client_id_fkey" FOREIGN KEY ("client_id") REFERENCES "client"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_outbox_id_fkey" FOREIGN KEY ("outbox_id") REFERENCES "outbox"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_delivery"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- What Prisma's schema cannot say follows.

-- What was written before there were endpoints is nobody's to receive.
UPDATE "outbox" SET "dispatched_at" = "at";

ALTER TABLE "outbox" ADD CONSTRAINT "outbox_approval" CHECK (("approval_id" IS NULL) = ("approval_seq" IS NULL));
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_previous" CHECK (("previous_secret_jwe" IS NULL) = ("previous_until" IS NULL));
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_disabled" CHECK (
  ("disabled_at" IS NULL) = ("disabled_reason" IS NULL)
  AND ("disabled_reason" IS NULL OR "disabled_reason" IN ('admin', 'gone', 'failing')));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_state" CHECK (
  "status" IN ('pending', 'delivered', 'dead') AND ("status" = 'pending') = ("ended_at" IS NULL) AND ("status" = 'pending' OR "lease" IS NULL));
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_result" CHECK (("status_code" IS NULL) <> ("error" IS NULL));

-- The two queues: what is to be handed out to endpoints, and what is due, endpoint by endpoint.
CREATE INDEX "outbox_undispatched_idx" ON "outbox"("id") WHERE "dispatched_at" IS NULL;
CREATE INDEX "webhook_delivery_due_idx" ON "webhook_delivery"("endpoint_id", "next_at") WHERE "status" = 'pending';

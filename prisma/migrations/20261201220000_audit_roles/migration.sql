-- A partitioned table needs the instant in its key: so an operator may turn this one into months (docs/audit.md).
ALTER TABLE "audit_event" DROP CONSTRAINT "audit_event_pkey",
ADD CONSTRAINT "audit_event_pkey" PRIMARY KEY ("seq", "at");

-- What Prisma's schema cannot say follows.

-- A trigger of a row is inherited by partitions, one of a statement is not, and a statement that names a partition fires only the
-- partition's own. ALWAYS: `session_replication_role` does not switch it off.
CREATE TRIGGER "audit_event_rows_stay" BEFORE UPDATE OR DELETE ON "audit_event"
  FOR EACH ROW EXECUTE FUNCTION "audit_event_append_only"();
ALTER TABLE "audit_event" ENABLE ALWAYS TRIGGER "audit_event_rows_stay";
ALTER TABLE "audit_event" ENABLE ALWAYS TRIGGER "audit_event_append_only";

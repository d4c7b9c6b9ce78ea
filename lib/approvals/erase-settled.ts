import type { Service } from "../process";
import { replayGraceSeconds } from "./transitions";

/**
 * Erases what tells the arguments of settled approvals, `RETAIN_ARGUMENTS_SECONDS` after they settled (section 12): the record with
 * arguments, presentation and salt, the note, the tags; the title where the client did not want it kept. Kept: tool, argument
 * names, digests, metadata, receipt. Returns how many; at most `batchMax` a call.
 */
export async function eraseSettled(service: Service): Promise<number> {
  // A lost answer to consume may be asked again until shortly after act-by; that needs the record.
  const { rowCount } = await service.pool.query(
    `UPDATE "approval" SET "record" = NULL, "note" = NULL, "action_tag" = NULL, "reuse_tag" = NULL, "match_tag" = NULL, "title" = CASE WHEN "retain_title" THEN "title" END,
       "erased_at" = clock_timestamp(), "version" = "version" + 1
     WHERE "id" IN (SELECT "id" FROM "approval" WHERE "erased_at" IS NULL AND "settled_at" <= statement_timestamp() - make_interval(secs => $1)
       AND ("act_by" IS NULL OR "act_by" <= statement_timestamp() - make_interval(secs => $2)) ORDER BY "settled_at" LIMIT $3 FOR UPDATE SKIP LOCKED)`,
    [service.config.retainArgumentsSeconds, replayGraceSeconds, batchMax],
  );
  await service.pool.query(
    `DELETE FROM "idempotency_key" WHERE "created_at" < clock_timestamp() - INTERVAL '24 hours'`,
  );
  await service.pool.query(`DELETE FROM "decline_cooldown" WHERE "until" < clock_timestamp()`);
  return rowCount ?? 0;
}

const batchMax = 500;

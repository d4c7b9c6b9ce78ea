import type pg from "pg";
import { type Check, check } from "./check";

const lateSeconds = 60;

/** Whether a worker runs: what it does each second must not be more than a minute behind. Reads only. */
export function checkBacklog(pool: pg.Pool): Promise<Check> {
  return check("worker", async (found) => {
    const { rows } = await pool.query<{ due: number; events: number; deliveries: number }>(lateSql, [lateSeconds]);
    const { due = 0, events = 0, deliveries = 0 } = rows[0] ?? {};
    const late = [
      ...(due > 0 ? [`${due} approvals past their time are not written down`] : []),
      ...(events > 0 ? [`${events} events are not handed out`] : []),
      ...(deliveries > 0 ? [`${deliveries} deliveries are due`] : []),
    ];
    if (late.length > 0)
      found.warnings.push(
        `For more than a minute ${late.join(", ")}: no worker runs, or it does not keep up. Start a server, or \`npm run worker\`, and read its log.`,
      );
    found.facts.push("Nothing is more than a minute behind.");
  });
}

// A row that cannot be verified is refused and left: that is no backlog.
const refused = `EXISTS (SELECT 1 FROM "audit_event" e WHERE e."approval_id" = a."id" AND e."type" = 'approval.receipt_refused')`;
const lateSql = `
WITH clock AS MATERIALIZED (SELECT clock_timestamp() - make_interval(secs => $1) AS "at")
SELECT (SELECT count(*)::int FROM "approval" a, clock WHERE a."status" = 'pending' AND a."expires_at" < clock."at" AND NOT ${refused}) AS "due",
  (SELECT count(*)::int FROM "outbox" o, clock WHERE o."dispatched_at" IS NULL AND o."at" < clock."at") AS "events",
  (SELECT count(*)::int FROM "webhook_delivery" d JOIN "webhook_endpoint" w ON w."id" = d."endpoint_id" AND w."disabled_at" IS NULL, clock
    WHERE d."status" = 'pending' AND d."next_at" < clock."at") AS "deliveries"`;

import type { Service } from "../process";
import { endBySystem } from "./end";
import { readApproval } from "./store";
import { outcomeWindowSeconds } from "./transitions";

/**
 * Writes down what the clock has already decided: pending past their deadline expire, accepted past act-by lapse, consumed without
 * a report become `unknown`. Correctness does not rest on it: the same is derived at every read. Safe in any number of processes.
 * Returns how many were settled; at most `batchMax` of each a call.
 */
export async function settleDue(service: Service): Promise<number> {
  const due = await service.pool.query<{ id: string; kind: "expire" | "lapse" | "derive_unknown" }>(dueSql, [
    batchMax,
    outcomeWindowSeconds,
  ]);
  let settled = 0;
  for (const { id, kind } of due.rows) {
    const read = await readApproval(service.pool, id);
    const { traceContext } = read?.approval ?? {};
    const attributes = { "countersign.approval.id": id };
    const isEnded = await service.traces.span("settle", { parent: traceContext ?? null, attributes }, async () =>
      read ? endBySystem(service, service.pool, read, { kind }) : false,
    );
    if (!isEnded) continue;
    settled += 1;
    service.hub.announce(id);
  }
  return settled;
}

const batchMax = 200;

// A row that was refused waits an hour for its next turn: it must not stand in the way of the others.
const notRefused = `NOT EXISTS (SELECT 1 FROM "audit_event" e WHERE e."approval_id" = a."id" AND e."type" = 'approval.receipt_refused'
  AND e."at" > clock_timestamp() - INTERVAL '1 hour')`;

// By the clock of the statement's beginning, at which the indexes can be cut off; each change is judged by the clock after its lock.
const dueSql = `
(SELECT "id", 'expire' AS "kind" FROM "approval" a WHERE "status" = 'pending' AND "expires_at" <= statement_timestamp() AND ${notRefused} ORDER BY "expires_at" LIMIT $1)
UNION ALL
(SELECT "id", 'lapse' FROM "approval" a WHERE "status" = 'accepted' AND "settled_at" IS NULL AND "consumed_at" IS NULL AND "act_by" <= statement_timestamp() ORDER BY "act_by" LIMIT $1)
UNION ALL
(SELECT "id", 'derive_unknown' FROM "approval" a WHERE "status" = 'accepted' AND "settled_at" IS NULL AND "consumed_at" <= statement_timestamp() - make_interval(secs => $2) ORDER BY "act_by" LIMIT $1)`;

import { appendAudit } from "../audit/append";
import type { AuditEventInput } from "../audit/event";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { mac } from "../secrets/mac";
import { forgottenAfter } from "./count-attempt";
import { networkOf } from "./network";

export type Throttled = { what: "password" | "api_key"; address: string | undefined; userId?: string | undefined };

/**
 * Records `security.throttled`, at most once an hour for each network, kind and known user: what a stranger causes by going on must neither
 * fill the history nor cost more than a look into an index. The address is that of the first refusal.
 */
export async function noteThrottled(service: Service, { what, address, userId }: Throttled): Promise<void> {
  const key = mac(service.secrets.tag, ["throttle", "noted", what, userId ?? null, networkOf(address)]);
  const data = { what, ...(address ? { address } : {}), ...(userId ? { userId } : {}) };
  const event: AuditEventInput = { type: "security.throttled", actor: { kind: "service" }, data };
  await transact(service.pool, async (db) => {
    const { rowCount } = await db.query(noteSql, [key]);
    if (rowCount === 1) await appendAudit(db, event);
  });
}

const noteSql = `
WITH clock AS (SELECT clock_timestamp() AS "now")
INSERT INTO "throttle" ("key", "failures", "last_at")
SELECT $1, 1, "now" FROM clock
WHERE NOT EXISTS (SELECT FROM "throttle" t WHERE t."key" = $1 AND t."last_at" > clock."now" - ${forgottenAfter})
ON CONFLICT ("key") DO UPDATE SET "last_at" = excluded."last_at"
WHERE "throttle"."last_at" <= excluded."last_at" - ${forgottenAfter}`;

import { appendAudit } from "../audit/append";
import type { AuditEventInput } from "../audit/event";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { mac } from "../secrets/mac";
import { forgottenAfter } from "./account-wait";
import { networkOf, siteOf } from "./network";

export type Throttled = { what: "password" | "api_key"; address: string | undefined; userId?: string | undefined };

/** Events of one kind that strangers may cause in an hour, however many networks they have: the history only grows. */
export const eventsMax = 20;

/** The key under which it stands that this was recorded: of the network (an IPv6 site is one), the kind and the known user. */
export function notedKey(service: Service, { what, address, userId }: Throttled): Buffer {
  const network = siteOf(address) ?? networkOf(address);
  return mac(service.secrets.tag, ["throttle", "noted", what, userId ?? null, network]);
}

/**
 * Records `security.throttled` and logs it, at most once an hour for each network, kind and known user; the history takes no more than
 * `eventsMax` an hour of each kind, the log tells of those beyond. The address is that of the first refusal. It returns at once: how long
 * the writing takes would tell whether there is such an account, and its failure is nothing to who is refused.
 */
export function noteThrottled(service: Service, throttled: Throttled): void {
  note(service, throttled).catch((error: Error) =>
    service.log.error({ reason: error.message }, "it could not be recorded that somebody has to wait"),
  );
}

async function note(service: Service, throttled: Throttled): Promise<void> {
  const { what, address, userId } = throttled;
  const data = { what, ...(address ? { address } : {}), ...(userId ? { userId } : {}) };
  const event: AuditEventInput = { type: "security.throttled", actor: { kind: "service" }, data };
  const isNew = await transact(service.pool, async (db) => {
    const { rowCount } = await db.query(noteSql, [notedKey(service, throttled)]);
    if (rowCount !== 1) return false;
    const all = mac(service.secrets.tag, ["throttle", "noted", what]);
    const { rows } = await db.query<{ count: number }>(countSql, [all]);
    if ((rows[0]?.count ?? 0) <= eventsMax) await appendAudit(db, event);
    return true;
  });
  if (isNew) service.log.warn(data, "too many wrong attempts: those from this network have to wait");
}

const noteSql = `
WITH clock AS (SELECT clock_timestamp() AS "now")
INSERT INTO "throttle" ("key", "failures", "last_at")
SELECT $1, 1, "now" FROM clock
WHERE NOT EXISTS (SELECT FROM "throttle" t WHERE t."key" = $1 AND t."last_at" > clock."now" - ${forgottenAfter})
ON CONFLICT ("key") DO UPDATE SET "last_at" = excluded."last_at"
WHERE "throttle"."last_at" <= excluded."last_at" - ${forgottenAfter}`;

// Here "last_at" is when the hour began.
const isOpen = `"throttle"."last_at" > excluded."last_at" - ${forgottenAfter}`;
const countSql = `
INSERT INTO "throttle" ("key", "failures", "last_at") VALUES ($1, 1, clock_timestamp())
ON CONFLICT ("key") DO UPDATE SET
  "failures" = CASE WHEN ${isOpen} THEN "throttle"."failures" + 1 ELSE 1 END,
  "last_at" = CASE WHEN ${isOpen} THEN "throttle"."last_at" ELSE excluded."last_at" END
RETURNING "failures" AS "count"`;

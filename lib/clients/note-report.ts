import type pg from "pg";
import { appendAudit } from "../audit/append";

/** From so many different people within an hour on, their reports concern the admins. */
const peopleMin = 3;

/**
 * Looks, in the transaction that has just frozen a client for one more person, how many people have said within an hour that they did not
 * ask. From three on it appends `security.client_reported`, once an hour for each client, and returns how many they are. What an admin
 * has answered, by an acknowledgement or a freeze for everybody, counts no more: after it three more people raise the next alert. Subjects of
 * one user are one person. Counted from rows under a lock, so that of several at the same moment, on any replica, the last one sees
 * the others. To be called last: whoever waits here holds rows that others may want, and whoever has been let in wants nothing more.
 */
export async function noteReport(db: pg.PoolClient, clientId: string): Promise<number | undefined> {
  await db.query(`SELECT pg_advisory_xact_lock(hashtextextended('client_reported' || E'\\n' || $1, 0))`, [clientId]);
  const { rows } = await db.query<{ people: number; is_noted: boolean }>(countSql, [clientId]);
  const { people = 0, is_noted: isNoted = false } = rows[0] ?? {};
  if (people < peopleMin || isNoted) return undefined;
  await appendAudit(db, {
    type: "security.client_reported",
    clientId,
    actor: { kind: "service" },
    data: { people },
  });
  return people;
}

const countSql = `
WITH answered AS (SELECT greatest(max(e."at"), clock_timestamp() - INTERVAL '1 hour') AS "at" FROM "audit_event" e WHERE e."client_id" = $1
  AND (e."type" = 'admin.alert_acknowledged' OR (e."type" = 'admin.client_frozen' AND e."reason" = 'admin')))
SELECT count(DISTINCT coalesce(i."user_id", f."subject_iss" || E'\\n' || f."subject_sub"))::int AS "people",
  EXISTS (SELECT 1 FROM "audit_event" e WHERE e."type" = 'security.client_reported' AND e."client_id" = $1
    AND e."at" > (SELECT "at" FROM answered)) AS "is_noted"
FROM "freeze" f LEFT JOIN "identity" i ON i."iss" = f."subject_iss" AND i."sub" = f."subject_sub"
WHERE f."client_id" = $1 AND f."reason" = 'not_requested' AND f."created_at" > (SELECT "at" FROM answered)`;

import type pg from "pg";

/** Several people have said that they did not ask for what this client asks; no admin has dealt with it yet. */
export type Alert = {
  /** The audit event that it is derived from. */
  seq: string;
  at: Date;
  clientId: string;
  clientName: string;
  /** Who has said so by now: those who raised the alert, and those who joined them since. */
  people: number;
};

/**
 * The alerts of the last 24 hours that no admin has acknowledged and that no freeze for everybody has answered since, the newest first;
 * one for each client. Derived from the history alone, so every replica shows the same.
 */
export async function listAlerts(db: Pick<pg.Pool, "query">): Promise<Alert[]> {
  const { rows } = await db.query<Alert>(listSql);
  return rows;
}

// Nothing is cast that a row might hold in another form: one spoilt row in a history that cannot be changed would take the page away.
const listSql = `
SELECT a."seq"::text AS "seq", a."at", a."client_id" AS "clientId", c."name" AS "clientName",
  greatest(CASE WHEN a."data" ->> 'people' ~ '^[0-9]{1,9}$' THEN (a."data" ->> 'people')::int ELSE 0 END,
    (SELECT count(DISTINCT coalesce(i."user_id", f."subject_iss" || E'\\n' || f."subject_sub"))::int
     FROM "freeze" f LEFT JOIN "identity" i ON i."iss" = f."subject_iss" AND i."sub" = f."subject_sub"
     WHERE f."client_id" = a."client_id" AND f."reason" = 'not_requested' AND f."created_at" > greatest(a."at" - INTERVAL '1 hour',
       (SELECT max(e."at") FROM "audit_event" e WHERE e."client_id" = a."client_id" AND e."seq" < a."seq"
          AND (e."type" = 'admin.alert_acknowledged' OR (e."type" = 'admin.client_frozen' AND e."reason" = 'admin')))))) AS "people"
FROM (SELECT DISTINCT ON ("client_id") * FROM "audit_event" WHERE "type" = 'security.client_reported'
    AND "at" > clock_timestamp() - INTERVAL '24 hours' ORDER BY "client_id", "seq" DESC) a
  JOIN "client" c ON c."id" = a."client_id"
WHERE NOT EXISTS (SELECT 1 FROM "audit_event" e WHERE e."type" = 'admin.client_frozen' AND e."seq" > a."seq"
    AND e."client_id" = a."client_id" AND e."reason" = 'admin')
  AND NOT EXISTS (SELECT 1 FROM "audit_event" e WHERE e."type" = 'admin.alert_acknowledged' AND e."seq" > a."seq"
    AND e."client_id" = a."client_id" AND e."data" ->> 'alert' = a."seq"::text)
ORDER BY a."seq" DESC`;

import type pg from "pg";
import type { SecurityEventType } from "../audit/event";

/** What went wrong or looked wrong about a client, for the admins: the type and when, and whose doing; the history itself is the auditors'. */
export type SecurityEvent = {
  seq: string;
  at: Date;
  type: SecurityEventType | "approval.receipt_refused";
  tool: string | null;
  reason: string | null;
  /** The account of the person who did it, where it was one. */
  account: string | null;
};

const types: SecurityEvent["type"][] = [
  "security.client_reported",
  "security.match_failed",
  "security.wrong_person",
  "security.passkey_failed",
  "security.throttled",
  "approval.receipt_refused",
];

/** The newest security events of a client within 30 days, at most 20. */
export async function listSecurityEvents(db: Pick<pg.Pool, "query">, clientId: string): Promise<SecurityEvent[]> {
  const { rows } = await db.query<SecurityEvent>(listSql, [types, clientId]);
  return rows;
}

// Type by type along its index: one condition over all of them would read the whole history backwards.
const listSql = `
SELECT e."seq"::text AS "seq", e."at", e."type", e."tool", e."reason", coalesce(u."email", u."contact", u."name") AS "account"
FROM unnest($1::text[]) AS t("type") CROSS JOIN LATERAL (
    SELECT * FROM "audit_event" a WHERE a."type" = t."type" AND a."client_id" = $2 AND a."at" > clock_timestamp() - INTERVAL '30 days'
    ORDER BY a."seq" DESC LIMIT 20) e
  LEFT JOIN "user" u ON u."id" = e."actor" ->> 'userId'
ORDER BY e."seq" DESC LIMIT 20`;

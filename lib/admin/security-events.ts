import type pg from "pg";
import type { SecurityEventType } from "../audit/event";
import { type NamedUser, type NamedUserRow, namedUserColumns, readNamedUser } from "../users/named-user";

/** What went wrong or looked wrong about a client, for the admins: the type and when, and whose doing; the history itself is the auditors'. */
export type SecurityEvent = {
  seq: string;
  at: Date;
  type: SecurityEventType | "approval.receipt_refused";
  tool: string | null;
  reason: string | null;
  /** The person who did it, where it was one. */
  user: NamedUser | undefined;
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
  const { rows } = await db.query<EventRow>(listSql, [types, clientId]);
  return rows.map((row) => ({
    seq: row.seq,
    at: row.at,
    type: row.type,
    tool: row.tool,
    reason: row.reason,
    user: row.user_id === null ? undefined : readNamedUser(row),
  }));
}

type EventRow = Omit<SecurityEvent, "user"> & (NamedUserRow | { user_id: null });

// Type by type along its index: one condition over all of them would read the whole history backwards.
const listSql = `
SELECT e."seq"::text AS "seq", e."at", e."type", e."tool", e."reason", ${namedUserColumns}
FROM unnest($1::text[]) AS t("type") CROSS JOIN LATERAL (
    SELECT * FROM "audit_event" a WHERE a."type" = t."type" AND a."client_id" = $2 AND a."at" > clock_timestamp() - INTERVAL '30 days'
    ORDER BY a."seq" DESC LIMIT 20) e
  LEFT JOIN "user" u ON u."id" = e."actor" ->> 'userId'
ORDER BY e."seq" DESC LIMIT 20`;

import type { RegisteredKey } from "../clients/cache";
import { openCursor, sealCursor } from "../database/cursor";
import { Problem } from "../problem";
import type { Service } from "../process";
import { rfc3339 } from "../receipts/sign";
import { type Next, nextFor, type Status, type Subject, statusAt } from "./approval";
import { type ApprovalRow, approvalFromRow } from "./from-row";

export type ListQuery = {
  status?: Status | undefined;
  tool?: string | undefined;
  cursor?: string | undefined;
  limit: number;
};
export type ListedApproval = {
  id: string;
  status: Status;
  next: Next;
  tool: string;
  createdAt: string;
  expiresAt: string;
  subject: Subject;
};
export type ApprovalList = { approvals: ListedApproval[]; nextCursor?: string };

/**
 * The client's approvals, newest first, `limit` (1–100) a page, keyset paging. A key with a tool list sees those tools alone.
 * Errors: `invalid_request` for a cursor that is not ours.
 */
export async function listForClient(service: Service, key: RegisteredKey, query: ListQuery): Promise<ApprovalList> {
  const after = query.cursor === undefined ? undefined : openCursor(service.secrets, key.client.id, query.cursor);
  if (query.cursor !== undefined && after?.length !== 2)
    throw new Problem("invalid_request", { errors: [{ pointer: "/cursor", message: "is not a cursor of this list" }] });
  const { rows } = await service.pool.query<ApprovalRow & { now: Date; cursor_at: string }>(listSql, [
    key.client.id,
    query.tool ?? null,
    query.status ?? null,
    key.tools,
    after?.[0] ?? null,
    after?.[1] ?? null,
    query.limit + 1,
  ]);
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  return {
    approvals: page.map((row) => listed(row)),
    ...(rows.length > query.limit && last
      ? { nextCursor: sealCursor(service.secrets, key.client.id, [last.cursor_at, last.id]) }
      : {}),
  };
}

// Expiry is derived: a pending row whose time is over counts as expired, whether or not the worker was there.
const listSql = `
SELECT a.*, c."now", a."created_at"::text AS "cursor_at" FROM "approval" a, (SELECT clock_timestamp() AS "now") c
WHERE a."client_id" = $1 AND ($2::text IS NULL OR a."tool" = $2) AND (cardinality($4::text[]) = 0 OR a."tool" = ANY($4))
  AND ($3::text IS NULL OR $3 = CASE WHEN a."status" = 'pending' AND a."expires_at" <= c."now" THEN 'expired' ELSE a."status" END)
  AND ($5::timestamptz IS NULL OR (a."created_at", a."id") < ($5::timestamptz, $6::text))
ORDER BY a."created_at" DESC, a."id" DESC LIMIT $7`;

function listed(row: ApprovalRow & { now: Date }): ListedApproval {
  const approval = approvalFromRow(row);
  const { id, tool, subject } = approval;
  return {
    id,
    tool,
    subject,
    status: statusAt(approval, row.now),
    next: nextFor(approval, row.now),
    createdAt: rfc3339(approval.createdAt),
    expiresAt: rfc3339(approval.expiresAt),
  };
}

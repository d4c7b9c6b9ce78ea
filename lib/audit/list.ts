import { openCursor, sealCursor } from "../database/cursor";
import type { AuditEvent, Prisma } from "../generated/prisma/client";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { appendHourly } from "./append-hourly";
import { readEvent } from "./event";

export type AuditFilter = {
  type?: string;
  clientId?: string;
  approvalId?: string;
  /** A subject's `sub`, or the e-mail address of a user. */
  person?: string;
  from?: Date;
  to?: Date;
  cursor?: string;
};
export type AuditPage = { events: AuditEvent[]; types: string[]; nextCursor: string | undefined };

const pageSize = 50;

/** Whether this person may read the history: checked here, next to the data, for every page of it. */
export function isAuditor(session: PersonSession): boolean {
  return session.roles.includes("auditor");
}

/** Audit events, newest first, for an auditor; undefined for everybody else. That it was read is itself an event. */
export async function listAudit(
  service: Service,
  session: PersonSession,
  filter: AuditFilter,
): Promise<AuditPage | undefined> {
  if (!isAuditor(session)) return undefined;
  const after = filter.cursor === undefined ? undefined : openCursor(service.secrets, session.userId, filter.cursor);
  const where: Prisma.AuditEventWhereInput = {
    ...(filter.type ? { type: filter.type } : {}),
    ...(filter.clientId ? { clientId: filter.clientId } : {}),
    ...(filter.approvalId ? { approvalId: filter.approvalId } : {}),
    ...(filter.person ? { OR: await actorsNamed(service, filter.person) } : {}),
    ...(filter.from || filter.to
      ? { at: { ...(filter.from ? { gte: filter.from } : {}), ...(filter.to ? { lt: filter.to } : {}) } }
      : {}),
    ...(after?.[0] ? { seq: { lt: BigInt(after[0]) } } : {}),
  };
  const rows = await service.prisma.auditEvent.findMany({ where, orderBy: { seq: "desc" }, take: pageSize + 1 });
  const types = await service.pool.query<{ type: string }>(typesSql);
  await appendHourly(service.pool, readEvent(session, "list"));
  const events = rows.slice(0, pageSize);
  const last = events.at(-1);
  return {
    events,
    types: types.rows.map((row) => row.type),
    nextCursor:
      rows.length > pageSize && last ? sealCursor(service.secrets, session.userId, [String(last.seq)]) : undefined,
  };
}

/** The types there are, one look into the index for each; a DISTINCT would read the whole history. */
const typesSql = `
WITH RECURSIVE t AS (
  (SELECT "type" FROM "audit_event" ORDER BY "type" LIMIT 1)
  UNION ALL
  SELECT (SELECT "type" FROM "audit_event" WHERE "type" > t."type" ORDER BY "type" LIMIT 1) FROM t WHERE t."type" IS NOT NULL
)
SELECT "type" FROM t WHERE "type" IS NOT NULL`;

/** An e-mail address may also be somebody's `sub` at another issuer: either counts. */
async function actorsNamed(service: Service, person: string): Promise<Prisma.AuditEventWhereInput[]> {
  const user = person.includes("@")
    ? await service.prisma.user.findUnique({ where: { email: person.trim().toLowerCase() }, select: { id: true } })
    : null;
  return [
    { actor: { path: ["sub"], equals: person } },
    ...(user ? [{ actor: { path: ["userId"], equals: user.id } }] : []),
  ];
}

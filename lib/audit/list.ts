import { openCursor, sealCursor } from "../database/cursor";
import type { AuditEvent, Prisma } from "../generated/prisma/client";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { noteAuditRead } from "./note-read";

export type AuditFilter = {
  type?: string;
  clientId?: string;
  approvalId?: string;
  sub?: string;
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
  const after =
    filter.cursor === undefined ? undefined : openCursor(service.secrets.cursor, session.userId, filter.cursor);
  const where: Prisma.AuditEventWhereInput = {
    ...(filter.type ? { type: filter.type } : {}),
    ...(filter.clientId ? { clientId: filter.clientId } : {}),
    ...(filter.approvalId ? { approvalId: filter.approvalId } : {}),
    ...(filter.sub ? { actor: { path: ["sub"], equals: filter.sub } } : {}),
    ...(filter.from || filter.to
      ? { at: { ...(filter.from ? { gte: filter.from } : {}), ...(filter.to ? { lt: filter.to } : {}) } }
      : {}),
    ...(after?.[0] ? { seq: { lt: BigInt(after[0]) } } : {}),
  };
  const rows = await service.prisma.auditEvent.findMany({ where, orderBy: { seq: "desc" }, take: pageSize + 1 });
  const types = await service.prisma.auditEvent.findMany({
    distinct: ["type"],
    select: { type: true },
    orderBy: { type: "asc" },
  });
  await noteAuditRead(service, session, "list");
  const events = rows.slice(0, pageSize);
  const last = events.at(-1);
  return {
    events,
    types: types.map((row) => row.type),
    nextCursor:
      rows.length > pageSize && last
        ? sealCursor(service.secrets.cursor, session.userId, [String(last.seq)])
        : undefined,
  };
}

import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { appendAudit } from "./append";

/** Records that an auditor read history, at most once an hour for each thing read, so that reading does not drown what it reads. */
export async function noteAuditRead(service: Service, session: PersonSession, what: string): Promise<void> {
  const since = new Date(Date.now() - 3_600_000);
  const seen = await service.prisma.auditEvent.findFirst({
    where: {
      type: "person.audit_read",
      at: { gt: since },
      AND: [{ actor: { path: ["userId"], equals: session.userId } }, { data: { path: ["what"], equals: what } }],
    },
  });
  if (seen) return;
  const { iss, sub, userId } = session;
  await appendAudit(service.prisma, {
    type: "person.audit_read",
    actor: { kind: "person", iss, sub, userId },
    data: { what },
  });
}

import type { AuditActor } from "../audit/event";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import { readSource } from "../requests/source";
import { isRecent, type PersonSession } from "../sessions/session";

/** Whether this person may see what admins see: checked here, next to the data, for every page of it. */
export function isAdmin(session: PersonSession): boolean {
  return session.roles.includes("admin");
}

export type Acting = { kind: "acting"; actor: AuditActor } | { kind: "step_up" } | { kind: "missing" };

/**
 * The actor of an admin's act on a page, which the verbs that change something take and the audit event names. `step_up`: the sign-in is
 * older than `recentSeconds` by the database's clock. `missing`: no admin, for whom there is nothing here. `headers` are those of the request,
 * which say from where.
 */
export async function actAsAdmin(service: Service, session: PersonSession, headers: Headers): Promise<Acting> {
  if (!isAdmin(session)) return { kind: "missing" };
  if (!isRecent(session, await readClock(service.pool))) return { kind: "step_up" };
  return { kind: "acting", actor: { kind: "admin", userId: session.userId, via: "page", from: readSource(headers) } };
}

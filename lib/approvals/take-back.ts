import type { Service } from "../process";
import { isCsrfToken } from "../sessions/csrf";
import type { PersonSession } from "../sessions/session";
import { end } from "./end";
import { openForPerson } from "./open";

export type TakeBackResult = { kind: "taken_back" | "too_late" | "forbidden" | "missing" };

/** Takes an acceptance back, until it is consumed or lapses. Idempotent. */
export async function takeBack(
  service: Service,
  session: PersonSession,
  approvalId: string,
  csrf: string,
): Promise<TakeBackResult> {
  if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "take_back", target: approvalId }, csrf))
    return { kind: "forbidden" };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const opened = await openForPerson(service, session, approvalId);
    if (!opened) return { kind: "missing" };
    const { approval, now } = opened;
    if (approval.status === "withdrawn" && approval.reason === "taken_back") return { kind: "taken_back" };
    if (approval.status !== "accepted" || approval.consumption.at !== null || approval.actBy <= now)
      return { kind: "too_late" };
    const actor = { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId } as const;
    if (!(await end(service, service.pool, opened, { kind: "withdraw", reason: "taken_back" }, actor))) continue;
    service.hub.announce(approvalId);
    return { kind: "taken_back" };
  }
  return { kind: "too_late" };
}

import { appendAudit } from "../audit/append";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { isCsrfToken } from "../sessions/csrf";
import type { PersonSession } from "../sessions/session";
import { openForPerson } from "./open";

/** Lets the client ask again for the action that this person declined. Idempotent; false where it is not theirs to lift. */
export async function liftCooldown(
  service: Service,
  session: PersonSession,
  approvalId: string,
  csrf: string,
): Promise<boolean> {
  if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "lift_cooldown", target: approvalId }, csrf))
    return false;
  const opened = await openForPerson(service, session, approvalId);
  if (opened?.approval.status !== "declined") return false;
  const { approval } = opened;
  await transact(service.pool, async (db) => {
    const { rowCount } = await db.query(`DELETE FROM "decline_cooldown" WHERE "approval_id" = $1`, [approvalId]);
    if (!rowCount) return;
    const actor = { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId } as const;
    await appendAudit(db, {
      type: "person.cooldown_lifted",
      approvalId,
      clientId: approval.clientId,
      tool: approval.tool,
      actor,
    });
  });
  return true;
}

/** Until when an equal action is refused after this decline, or undefined where it is not (any more). */
export async function cooldownUntil(service: Service, approvalId: string): Promise<Date | undefined> {
  const { rows } = await service.pool.query<{ until: Date }>(
    `SELECT "until" FROM "decline_cooldown" WHERE "approval_id" = $1 AND "until" > clock_timestamp()`,
    [approvalId],
  );
  return rows[0]?.until;
}

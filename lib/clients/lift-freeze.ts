import type pg from "pg";
import type { Subject } from "../approvals/approval";
import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { readClock } from "../database/clock";
import { transact } from "../database/transact";
import { Problem } from "../problem";
import type { Service } from "../process";
import { isRecent, type PersonSession } from "../sessions/session";
import { type IdentityRow, isAuthenticIdentity } from "../users/identity";
import { queueClientEvent } from "../webhooks/queue-client-event";

/**
 * Lifts what one person has put up against a client, on behalf of an admin: the client may ask that person again from the commit on. What
 * was withdrawn stays withdrawn; a freeze for everybody stays. `changed` is false where it was lifted, or was over, before.
 * Errors: `not_found`, also where it is a freeze of another client than `clientId`.
 */
export async function liftPersonFreeze(
  service: Service,
  of: { freezeId: string; clientId?: string },
  actor: AuditActor,
): Promise<{ freezeId: string; clientId: string; changed: boolean }> {
  const { freezeId } = of;
  return transact(service.pool, async (db) => {
    const freeze = await readFreeze(db, freezeId);
    if (!freeze || (of.clientId !== undefined && of.clientId !== freeze.clientId))
      throw new Problem("not_found", { detail: "There is no such freeze of a person." });
    const changed = await lift(db, freeze.clientId, freezeId);
    if (changed)
      await appendAudit(db, {
        type: "admin.client_unfrozen",
        clientId: freeze.clientId,
        actor,
        reason: "not_requested",
        data: namesOf(freeze.subject),
      });
    return { freezeId, clientId: freeze.clientId, changed };
  });
}

export type LiftResult = "lifted" | "step_up" | "missing";

/**
 * Lifts a freeze on behalf of the person who may decide for its subject (I2), after a sign-in within `recentSeconds` by the database's
 * clock: an agent that drives a browser left open must not undo it. The right is judged by rows that stay locked until the commit, as for a
 * decision: whoever takes it away at the same moment is either seen or waits. Idempotent. `missing`: unknown, or not theirs (any more).
 */
export async function liftOwnFreeze(service: Service, session: PersonSession, freezeId: string): Promise<LiftResult> {
  return transact(service.pool, async (db) => {
    const freeze = await readFreeze(db, freezeId);
    if (!freeze || !(await holdsRight(db, service, session, freeze.subject))) return "missing";
    if (!isRecent(session, await readClock(db))) return "step_up";
    if (await lift(db, freeze.clientId, freezeId))
      await appendAudit(db, {
        type: "person.freeze_lifted",
        clientId: freeze.clientId,
        actor: { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId },
        data: namesOf(freeze.subject),
      });
    return "lifted";
  });
}

/**
 * `rightToDecide`, of what holds now and cannot be taken away before the commit: the identity, the user and the session. Locked in this
 * order, since taking a link away locks the identity first and ends sessions last.
 */
async function holdsRight(db: pg.PoolClient, service: Service, session: PersonSession, of: Subject): Promise<boolean> {
  const { userId, sid, iss, sub } = session;
  const { rows } = await db.query<IdentityRow>(
    `SELECT "iss", "sub", "user_id" AS "userId", "may_approve" AS "mayApprove", "linked_by" AS "linkedBy", "mac" FROM "identity"
     WHERE "iss" = $1 AND "sub" = $2 AND "user_id" = $3 FOR SHARE`,
    [of.iss, of.sub, userId],
  );
  const [identity] = rows;
  if (!identity) return false;
  const isOwn = iss === of.iss && sub === of.sub;
  const isLink = identity.mayApprove && identity.linkedBy === "admin" && isAuthenticIdentity(service.secrets, identity);
  if (!isOwn && !isLink) return false;
  const user = `SELECT 1 FROM "user" WHERE "id" = $1 AND "disabled_at" IS NULL FOR SHARE`;
  const held = `SELECT 1 FROM "session" WHERE "sid" = $1 AND "user_id" = $2 AND "revoked_at" IS NULL FOR SHARE`;
  return (await db.query(user, [userId])).rowCount === 1 && (await db.query(held, [sid, userId])).rowCount === 1;
}

async function readFreeze(
  db: Pick<pg.Pool, "query">,
  freezeId: string,
): Promise<{ clientId: string; subject: Subject } | undefined> {
  // PostgreSQL refuses to look for it.
  if (freezeId.includes("\u0000")) return undefined;
  const { rows } = await db.query<{ client_id: string; subject_iss: string; subject_sub: string }>(
    `SELECT "client_id", "subject_iss", "subject_sub" FROM "freeze" WHERE "id" = $1 AND "subject_sub" IS NOT NULL`,
    [freezeId],
  );
  const row = rows[0];
  return row && { clientId: row.client_id, subject: { iss: row.subject_iss, sub: row.subject_sub } };
}

/**
 * By its id, so that a form sent again does not lift a later freeze of the same two; with it goes what the same press has put up for the
 * person's other identities, which was written in one transaction.
 */
async function lift(db: pg.PoolClient, clientId: string, freezeId: string): Promise<boolean> {
  const { rows } = await db.query<Subject>(
    `UPDATE "freeze" f SET "lifted_at" = clock_timestamp() FROM "freeze" g
     WHERE g."id" = $1 AND f."client_id" = g."client_id" AND f."lifted_at" IS NULL AND f."until" > clock_timestamp()
       AND (f."id" = g."id" OR (f."created_at" = g."created_at" AND EXISTS (
         SELECT 1 FROM "identity" i JOIN "identity" j ON j."user_id" = i."user_id"
         WHERE i."iss" = f."subject_iss" AND i."sub" = f."subject_sub" AND j."iss" = g."subject_iss" AND j."sub" = g."subject_sub")))
     RETURNING f."subject_iss" AS "iss", f."subject_sub" AS "sub"`,
    [freezeId],
  );
  for (const subject of rows) await queueClientEvent(db, "client.unfrozen", { clientId, reason: "lifted", subject });
  return rows.length > 0;
}

const namesOf = ({ iss, sub }: Subject) => ({ subjectIss: iss, subjectSub: sub });

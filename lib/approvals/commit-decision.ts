import { appendAudit } from "../audit/append";
import { readClient } from "../clients/cache";
import { noteReport } from "../clients/note-report";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { signReceipt } from "../receipts/sign";
import type { PersonSession } from "../sessions/session";
import type { Subject } from "./approval";
import type { Choice } from "./decision-form";
import { freezePerson, lockPerson } from "./freeze-person";
import type { Opened } from "./open";
import { type Change, commitChange } from "./store";
import { transition } from "./transitions";

/**
 * Commits a decision and what follows from it, all or none (I8): a decline starts the cool-down of its action; "I didn't ask for
 * this" also withdraws everything live of this client for this person, as the subject or any of `alsoTheirs`, and freezes the client for
 * them; three people who say so alert the admins.
 * False: somebody was first, or it is too late.
 */
export function commitDecision(
  service: Service,
  change: Change,
  choice: Choice,
  alsoTheirs: Subject[],
): Promise<boolean> {
  const { id, traceContext } = change.from;
  const attributes = { "countersign.approval.id": id };
  return service.traces.span("decide", { parent: traceContext, attributes }, () =>
    commit(service, change, choice, alsoTheirs),
  );
}

async function commit(service: Service, change: Change, choice: Choice, alsoTheirs: Subject[]): Promise<boolean> {
  const { from } = change;
  const people = inOneOrder([from.subject, ...alsoTheirs]).map((subject) => ({ clientId: from.clientId, subject }));
  if (choice === "accept" || choice === "cancel") {
    const isWritten = await commitChange(service.pool, change);
    if (isWritten) service.hub.announce(from.id);
    return isWritten;
  }
  const client = await readClient(service.prisma, from.clientId);
  const cooldownSeconds = client?.policy.declineCooldownSeconds ?? 600;
  const { touched, reportedBy } = await transact(service.pool, async (db) => {
    if (choice === "not_requested") for (const person of people) await lockPerson(db, person);
    if (!(await commitChange(db, change))) return { touched: [] };
    await db.query(
      `INSERT INTO "decline_cooldown" ("approval_id", "client_id", "subject_iss", "subject_sub", "action_tag", "until")
       SELECT $1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $6) WHERE $6 > 0 AND $5::bytea IS NOT NULL`,
      [from.id, from.clientId, from.subject.iss, from.subject.sub, from.actionTag, cooldownSeconds],
    );
    if (choice !== "not_requested") return { touched: [from.id] };
    const withdrawn: string[] = [];
    for (const person of people) withdrawn.push(...(await freezePerson(service, db, person, change.actor)));
    return { touched: [from.id, ...withdrawn], reportedBy: await noteReport(db, from.clientId) };
  });
  for (const id of touched) service.hub.announce(id);
  if (reportedBy !== undefined)
    service.log.error(
      { clientId: from.clientId, people: reportedBy },
      "several people say that they did not ask for what this client asks; look at it, and freeze it if in doubt",
    );
  return touched.length > 0;
}

/** Each once, in an order that is the same for everybody, so that two who lock them cannot wait for each other. */
function inOneOrder(subjects: Subject[]): Subject[] {
  const byName = new Map(subjects.map(({ iss, sub }) => [JSON.stringify([iss, sub]), { iss, sub }]));
  return [...byName.keys()].sort().map((name) => byName.get(name) as Subject);
}

/** Counts a wrong code; the third withdraws the approval as `match_failed`. False: somebody changed it meanwhile. */
export async function countWrongCode(
  service: Service,
  session: PersonSession,
  { approval, now }: Opened,
): Promise<boolean> {
  const step = transition(approval, { kind: "wrong_code" }, now);
  if (!step.ok) return false;
  const { next } = step;
  const to = next.status === "withdrawn" ? { ...next, receipt: await signReceipt(service, next, now) } : next;
  const isWritten = await transact(service.pool, async (db) => {
    const committed = await commitChange(db, {
      from: approval,
      to,
      event: step.event,
      validUntil: step.validUntil,
      actor: { kind: "service" },
    });
    if (committed && to.status === "withdrawn")
      await appendAudit(db, {
        type: "security.match_failed",
        approvalId: approval.id,
        clientId: approval.clientId,
        tool: approval.tool,
        actor: { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId },
      });
    return committed;
  });
  if (isWritten && to.status === "withdrawn") service.hub.announce(approval.id);
  return isWritten;
}

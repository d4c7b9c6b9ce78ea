import type pg from "pg";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { recordRefusal } from "../receipts/record-refusal";
import { signReceipt } from "../receipts/sign";
import { verifyRecord } from "../records/verify";
import type { Approval } from "./approval";
import { type Clocked, commitChange } from "./store";
import { type Command, transition } from "./transitions";

type Ending = Extract<Command, { kind: "expire" | "withdraw" | "lapse" | "derive_unknown" }>;

/**
 * Ends an approval on behalf of the service. False where the transition is not allowed (any more), somebody was first, or the row cannot
 * be verified: then no receipt is signed, the operator has been told, and it can neither be decided nor consumed.
 */
export async function endBySystem(
  service: Service,
  db: Pick<pg.Pool, "query">,
  read: Pick<Clocked<Approval>, "approval" | "now">,
  command: Ending,
): Promise<boolean> {
  try {
    return await end(service, db, read, command, { kind: "service" });
  } catch (error) {
    if (error instanceof Problem && error.code === "integrity_failed") return false;
    throw error;
  }
}

/** As `endBySystem`, for a named actor. The receipt is signed for exactly the state that is stored, or neither is (I8). */
export async function end(
  service: Service,
  db: Pick<pg.Pool, "query">,
  read: Pick<Clocked<Approval>, "approval" | "now">,
  command: Ending,
  actor: AuditActor,
): Promise<boolean> {
  const step = transition(read.approval, command, read.now);
  if (!step.ok) return false;
  const { next } = step;
  const isEnd = next.status === "expired" || next.status === "withdrawn";
  // A receipt is signed from the columns, so the record must confirm them first (I17).
  if (isEnd && !(await verifyRecord(service, read.approval)))
    await recordRefusal(service, read.approval)(new Problem("integrity_failed"));
  const to = isEnd ? { ...next, receipt: await signReceipt(service, next, endedAt(next, read.now)) } : next;
  return commitChange(db, {
    from: read.approval,
    to,
    event: step.event,
    validUntil: step.validUntil,
    validFrom: step.validFrom,
    actor,
  });
}

/** An expiry happened at its deadline, whenever it is written down. */
const endedAt = (approval: Approval, now: Date) => (approval.status === "expired" ? approval.expiresAt : now);

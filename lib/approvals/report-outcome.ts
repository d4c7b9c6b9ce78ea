import { createHash } from "node:crypto";
import { requireValidKey } from "../api-keys/require-valid";
import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import { isSameMac } from "../secrets/mac";
import type { Approval, Outcome } from "./approval";
import { findForClient } from "./find";
import { type StatusAnswer, statusAnswer } from "./status";
import { commitChange, readApproval } from "./store";
import { transition } from "./transitions";

export type OutcomeReport = { consumerToken: string; outcome: Outcome; code?: string | undefined };

/**
 * Records what happened when it ran, once; only the attempt that consumed may. The same report again is answered alike; a
 * late one replaces an `unknown` that was only derived. Errors: `not_consumed`, `consumer_mismatch`, `outcome_already_reported`,
 * and those of `findForClient`.
 */
export async function reportOutcome(
  service: Service,
  key: RegisteredKey,
  id: string,
  report: OutcomeReport,
): Promise<StatusAnswer> {
  const consumerHash = createHash("sha256").update(report.consumerToken).digest();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const read = await findForClient(service, key, id);
    if (isKnown(read.approval, consumerHash, report)) return statusAnswer(service, read);
    const { code } = report;
    const step = transition(
      read.approval,
      { kind: "report", outcome: report.outcome, ...(code === undefined ? {} : { code }) },
      read.now,
    );
    if (!step.ok) throw new Problem(step.reason === "outcome_already_reported" ? step.reason : "not_consumed");
    const data = { outcome: report.outcome, ...(code === undefined ? {} : { code }) };
    const isWritten = await commitChange(service.pool, {
      from: read.approval,
      to: step.next,
      event: step.event,
      actor: { kind: "client", keyId: key.keyId },
      data,
    });
    if (!isWritten) {
      await requireValidKey(service, key.keyId);
      continue;
    }
    service.hub.announce(id);
    const after = await readApproval(service.pool, id);
    if (after) return statusAnswer(service, after);
  }
  throw new Problem("unavailable");
}

/** Errors: `consumer_mismatch` where the token is not that of the attempt that consumed. */
function isKnown(approval: Approval, consumerHash: Uint8Array, report: OutcomeReport): boolean {
  if (approval.status !== "accepted" || approval.consumption.at === null) return false;
  if (!isSameMac(approval.consumption.consumerHash, consumerHash)) throw new Problem("consumer_mismatch");
  const known = approval.consumption.outcome;
  return (
    known !== null &&
    known.value === report.outcome &&
    known.code === (report.code ?? null) &&
    !(known.isDerived && report.outcome !== "unknown")
  );
}

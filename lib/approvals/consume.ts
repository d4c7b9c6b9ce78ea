import { createHash } from "node:crypto";
import { actionDigest } from "@countersign/mcp/digest";
import type { ReceiptClaims } from "@countersign/mcp/receipt";
import { requireValidKey } from "../api-keys/require-valid";
import type { RegisteredKey } from "../clients/cache";
import type { JsonObject } from "../json/value";
import { Problem } from "../problem";
import type { Service } from "../process";
import { checkStoredReceipt } from "../receipts/check";
import { recordRefusal } from "../receipts/record-refusal";
import { rfc3339 } from "../receipts/sign";
import type { RecordClaims } from "../records/claims";
import { isSameCaller, verifyRecord } from "../records/verify";
import { isSameMac } from "../secrets/mac";
import type { Accepted, Approval, Consumed } from "./approval";
import { findForClient } from "./find";
import { clockToleranceSeconds } from "./insert";
import { preconditionsDigest } from "./preconditions";
import { type Clocked, commitChange } from "./store";
import { replayGraceSeconds, transition } from "./transitions";

export type ConsumeRequest = {
  caller: { iss: string; sub: string; clientId?: string | undefined };
  consumerToken: string;
  preconditions?: JsonObject | undefined;
  action?: { tool: string; arguments: JsonObject } | undefined;
  actionDigest?: string | undefined;
};

export type ConsumeAnswer = { granted: true; replayed: boolean; receipt: string };

/**
 * Grants the right to run, once (I5): to the caller and action of the signed receipt, within act-by by the database clock
 * (I12), on preconditions equal to those of the signed record. The same consumer token gets the same grant again, until
 * 30 s after act-by. Errors: `not_accepted`, `already_consumed`, `action_mismatch`, `caller_mismatch`, `stale`, `lapsed`,
 * `frozen`, `integrity_failed`, and those of `findForClient`.
 */
export async function consume(
  service: Service,
  key: RegisteredKey,
  id: string,
  request: ConsumeRequest,
): Promise<ConsumeAnswer> {
  const consumerHash = createHash("sha256").update(request.consumerToken).digest();
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const read = await findForClient(service, key, id);
    const { now } = read;
    const accepted = requireAccepted(read);
    if (accepted.erasedAt) throw settledLongAgo(accepted);
    await verifyGrant(service, accepted, request).catch(recordRefusal(service, accepted));
    if (accepted.consumption.at !== null) return replay(accepted, now, consumerHash);
    const step = transition(accepted, { kind: "consume", consumerHash }, now);
    if (!step.ok) throw new Problem("lapsed");
    if (await commit(service, key, accepted, step.next, step.validUntil))
      return { granted: true, replayed: false, receipt: accepted.receipt };
    await requireValidKey(service, key.keyId);
  }
  throw new Problem("unavailable");
}

async function commit(
  service: Service,
  key: RegisteredKey,
  from: Accepted,
  to: Approval,
  validUntil: Date | undefined,
): Promise<boolean> {
  const actor = { kind: "client", keyId: key.keyId } as const;
  const isWritten = await commitChange(service.pool, { from, to, validUntil, event: "consumed", actor });
  if (isWritten) service.hub.announce(from.id);
  return isWritten;
}

function requireAccepted({ approval, isFrozen }: Clocked<Approval>): Accepted {
  if (isFrozen) throw new Problem("frozen");
  if (approval.status === "accepted") return approval;
  if (approval.status === "withdrawn" && approval.reason === "frozen") throw new Problem("frozen");
  throw new Problem("not_accepted", { detail: "Nobody has accepted this, or it has ended." });
}

function replay(approval: Accepted, now: Date, consumerHash: Uint8Array): ConsumeAnswer {
  const { consumption } = approval;
  if (consumption.at === null) throw new TypeError("not consumed");
  if (!isSameMac(consumption.consumerHash, consumerHash)) throw alreadyConsumed(consumption);
  if (now.getTime() > approval.actBy.getTime() + replayGraceSeconds * 1000) throw new Problem("lapsed");
  return { granted: true, replayed: true, receipt: approval.receipt };
}

/** What was erased settled before: there is nothing left to compare an action with, and nothing to grant (section 12). */
function settledLongAgo(approval: Accepted): Problem {
  return approval.consumption.at === null ? new Problem("lapsed") : alreadyConsumed(approval.consumption);
}

function alreadyConsumed(consumption: Consumed): Problem {
  return new Problem("already_consumed", {
    consumedAt: rfc3339(consumption.at),
    outcome: consumption.outcome?.value ?? null,
    detail: "Another attempt has the right to run.",
  });
}

/** The grant rests on the stored receipt and the signed record, verified now, and on no column that they do not confirm (I15, I17). */
async function verifyGrant(service: Service, approval: Accepted, request: ConsumeRequest): Promise<void> {
  const receipt = await checkStoredReceipt(service, approval);
  const record = await verifyRecord(service, approval);
  if (receipt?.decision !== "accept" || receipt.act_by !== rfc3339(approval.actBy))
    throw new Problem("integrity_failed");
  if (!record || !isSameCaller(receipt.caller, record.caller) || !isWithinWindow(receipt, record))
    throw new Problem("integrity_failed");
  // Where it is there it was verified with the receipt.
  if (record.requirements.passkey === "required" && !isOlder(receipt.passkey, record))
    throw new Problem("integrity_failed");
  if (!isSameCaller(receipt.caller, request.caller)) throw new Problem("caller_mismatch");
  const digest = request.action ? actionDigest({ ...request.action, salt: record.salt }) : request.actionDigest;
  if (digest !== receipt.action_digest) throw new Problem("action_mismatch");
  const presented = request.preconditions && preconditionsDigest(request.preconditions, record.salt);
  if (presented !== record.preconditions_digest)
    throw new Problem("stale", { detail: "The preconditions are not those that were approved." });
}

/** Only a passkey from before the request counts: one that was registered for it may be anybody's (section 7). */
function isOlder(passkey: ReceiptClaims["passkey"], record: RecordClaims): boolean {
  return passkey !== undefined && Date.parse(passkey.created_at) < (record.iat - clockToleranceSeconds) * 1000;
}

/** The act-by of the receipt is no later than the record allows after the decision (I12). */
function isWithinWindow(receipt: ReceiptClaims, record: RecordClaims): boolean {
  return (
    Date.parse(receipt.act_by ?? "") <= Date.parse(receipt.decided_at ?? "") + record.requirements.actBySeconds * 1000
  );
}

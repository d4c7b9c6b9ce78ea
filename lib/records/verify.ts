import { compactVerify, decodeProtectedHeader } from "jose";
import type { ApprovalBase } from "../approvals/approval";
import type { KeyRing } from "../keys/key-ring";
import { signingAlg } from "../keys/signing-key";
import { type RecordClaims, recordClaimsSchema, recordTyp } from "./claims";

/**
 * The claims of an approval's stored record, or undefined where it is not this service's record of exactly this approval (I17): signed
 * by us (alg, typ, iss, aud and jti pinned, no `crit`), and every column that a decision or receipt is made from says what the record
 * says. Deadlines are judged elsewhere, by the database's clock (I6); here only that they are the signed ones.
 */
export async function verifyRecord(
  options: { keys: KeyRing; issuer: string },
  approval: ApprovalBase,
): Promise<RecordClaims | undefined> {
  if (approval.record === null) return undefined;
  const kid = kidOf(approval.record);
  const key = kid === undefined ? undefined : await options.keys.find(kid);
  const payload =
    key && (await compactVerify(approval.record, key, { algorithms: [signingAlg] }).catch(() => undefined))?.payload;
  const claims = payload && recordClaimsSchema.safeParse(parsed(payload)).data;
  const isOurs = claims?.iss === options.issuer && claims.aud === options.issuer && claims.jti === approval.id;
  return isOurs && agrees(claims, approval) ? claims : undefined;
}

function agrees(claims: RecordClaims, approval: ApprovalBase): boolean {
  return (
    claims.client_id === approval.clientId &&
    isSameCaller(claims.caller, approval.caller) &&
    claims.sub_id.iss === approval.subject.iss &&
    claims.sub_id.sub === approval.subject.sub &&
    claims.action.tool === approval.tool &&
    claims.action_digest === approval.actionDigest &&
    claims.policy_version === approval.policyVersion &&
    claims.iat * 1000 === approval.createdAt.getTime() &&
    claims.exp * 1000 === approval.expiresAt.getTime() &&
    claims.requirements.actBySeconds === approval.actBySeconds
  );
}

type Called = { iss: string; sub: string; clientId?: string | undefined };

/** Whether two callers are one: issuer, subject and MCP client, as exact strings (I15). */
export function isSameCaller(a: Called, b: Called): boolean {
  return a.iss === b.iss && a.sub === b.sub && a.clientId === b.clientId;
}

function kidOf(record: string): string | undefined {
  try {
    const header = decodeProtectedHeader(record);
    return header.alg === signingAlg && header.typ === recordTyp && header.crit === undefined ? header.kid : undefined;
  } catch {
    return undefined;
  }
}

function parsed(payload: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(payload));
  } catch {
    return undefined;
  }
}

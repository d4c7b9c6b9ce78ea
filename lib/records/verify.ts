import { type CryptoKey, compactVerify, decodeProtectedHeader } from "jose";
import type { ApprovalBase } from "../approvals/approval";
import type { KeyRing } from "../keys/key-ring";
import { signingAlg } from "../keys/signing-key";
import { type RecordClaims, recordClaimsSchema, recordTyp } from "./claims";

/**
 * The claims of an approval's stored record, or undefined where it is not this service's record of exactly this approval (I17): signed
 * by us (alg, typ, iss, aud and jti pinned, no `crit`), and every column that a decision or receipt is made from says what the record
 * says. What a key signed that was revoked when the row was read is not. Deadlines are judged elsewhere, by the database's clock (I6); here only that they are the signed ones.
 */
export function verifyRecord(options: Verifying, approval: ApprovalBase): Promise<RecordClaims | undefined> {
  return verifyWith(options, approval, (kid) => options.keys.find(kid, approval.revokedKids));
}

type Verifying = { keys: KeyRing; issuer: string };

/**
 * Whether an approval's record would be verified, had the key that signed it not been revoked. Nothing is decided, granted or shown from
 * such a record; only that the approval is over can still be told, by a receipt that another key has signed.
 */
export async function isRecordOfRevokedKey(options: Verifying, approval: ApprovalBase): Promise<boolean> {
  const claims = await verifyWith(options, approval, async (kid) => options.keys.findRevoked(kid)?.publicKey);
  return claims !== undefined;
}

async function verifyWith(
  options: Verifying,
  approval: ApprovalBase,
  lookup: (kid: string) => Promise<CryptoKey | undefined>,
): Promise<RecordClaims | undefined> {
  if (approval.record === null) return undefined;
  const kid = kidOf(approval.record);
  const key = kid === undefined ? undefined : await lookup(kid);
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

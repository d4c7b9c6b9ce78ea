import { compactVerify, decodeProtectedHeader } from "jose";
import type { KeyRing } from "../keys/key-ring";
import { signingAlg } from "../keys/signing-key";
import { type RecordClaims, recordClaimsSchema, recordTyp } from "./claims";

/**
 * The claims of a stored record, or undefined where it is not this service's record of this approval (I17). Pins alg, typ,
 * iss, aud and jti, refuses `crit`. `exp` is not judged here: deadlines are the database clock's (I6).
 */
export async function verifyRecord(
  options: { keys: KeyRing; issuer: string },
  approvalId: string,
  record: string | null,
): Promise<RecordClaims | undefined> {
  if (record === null) return undefined;
  const kid = kidOf(record);
  const key = kid === undefined ? undefined : await options.keys.find(kid);
  const payload =
    key && (await compactVerify(record, key, { algorithms: [signingAlg] }).catch(() => undefined))?.payload;
  const claims = payload && recordClaimsSchema.safeParse(parsed(payload)).data;
  return claims && claims.iss === options.issuer && claims.aud === options.issuer && claims.jti === approvalId
    ? claims
    : undefined;
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

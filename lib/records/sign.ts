import { CompactSign } from "jose";
import { canonicalJson } from "../json/canonical";
import type { JsonValue } from "../json/value";
import type { KeyRing } from "../keys/key-ring";
import { signingAlg } from "../keys/signing-key";
import { type RecordClaims, recordTyp } from "./claims";

/** Signs an approval record. The payload is the RFC 8785 text of the claims: the arguments stand in it exactly, once. */
export function signRecord(keys: KeyRing, claims: RecordClaims): Promise<string> {
  return signClaims(keys, recordTyp, claims);
}

/** A JWS in compact form (RFC 7515) over the canonical text of `claims`, with an explicit `typ` (RFC 8725 section 3.11). */
export async function signClaims(keys: KeyRing, typ: string, claims: object): Promise<string> {
  const { kid, privateKey } = await keys.signer();
  const payload = new TextEncoder().encode(canonicalJson(claims as JsonValue));
  return new CompactSign(payload).setProtectedHeader({ alg: signingAlg, typ, kid }).sign(privateKey);
}

import type { KeyRing } from "../keys/key-ring";
import { signClaims } from "../keys/sign-claims";
import { type RecordClaims, recordTyp } from "./claims";

/** Signs an approval record. The payload is the RFC 8785 text of the claims: the arguments stand in it exactly, once. */
export function signRecord(keys: KeyRing, claims: RecordClaims): Promise<string> {
  return signClaims(keys, recordTyp, claims);
}

import { compactVerify } from "jose";
import { signClaims } from "../keys/sign-claims";
import { signingAlg } from "../keys/signing-key";
import type { Service } from "../process";
import { type Check, check } from "./check";

/** Whether every signing key's row stands up to the secret, and what is signed now verifies with what is published. */
export function checkKeys(service: Service): Promise<Check> {
  return check("keys", async (found) => {
    await service.keys.refresh();
    if (!service.keys.isHealthy())
      found.failures.push(
        "A row of a signing key does not stand up to the secret, or none can sign: the log names it. Restore the row, or `countersign keys revoke-signing KID`.",
      );
    const jws = await signClaims(service.keys, "doctor+jwt", { iss: service.issuer });
    const { kid } = service.keys.signer();
    const publicKey = await service.keys.find(kid);
    if (!publicKey) throw new Error(`The key ${kid} signs and cannot be found to verify with.`);
    await compactVerify(jws, publicKey, { algorithms: [signingAlg] });
    const published = service.keys.published();
    if (!published.some((jwk) => jwk.kid === kid))
      found.failures.push(`The key ${kid} signs and is not published: nobody can verify its receipts. Rotate it.`);
    found.facts.push(`${kid} signs; ${published.length} published.`);
  });
}

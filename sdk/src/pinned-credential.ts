import { z } from "zod";
import { credentialIdSchema, type PasskeyClaim, type PasskeyPublicKey, publicKeySchema } from "./passkey-claim";

/** A passkey that is known to be a person's from elsewhere than the receipt, e.g. from a list kept apart from the service. */
export const pinnedCredentialSchema = z.object({
  iss: z.string().min(1),
  sub: z.string().min(1),
  /** base64url without padding. */
  credentialId: credentialIdSchema,
  publicKey: publicKeySchema,
  /** What the person calls it. */
  name: z.string().optional(),
});

export type PinnedCredential = z.infer<typeof pinnedCredentialSchema>;

type Identity = { iss: string; sub: string };

/**
 * Whose the credential of a receipt is by the list: the subject's, or else the one's who decided under an admin's link (`via` exactly
 * "admin_link"; by any other right the subject alone decides). Id, public key and identity must all be those of one entry; `undefined`
 * where no entry fits.
 */
export function findPin(
  credentials: readonly PinnedCredential[],
  { credential_id, public_key }: PasskeyClaim,
  people: { subject: Identity; authn: (Identity & { via: string }) | undefined },
): "subject" | "authn" | undefined {
  const { subject, authn } = people;
  const isPinnedFor = ({ iss, sub }: Identity) =>
    credentials.some(
      (pin) =>
        pin.iss === iss &&
        pin.sub === sub &&
        pin.credentialId === credential_id &&
        isSameKey(pin.publicKey, public_key),
    );
  if (isPinnedFor(subject)) return "subject";
  return authn?.via === "admin_link" && isPinnedFor(authn) ? "authn" : undefined;
}

function isSameKey(one: PasskeyPublicKey, other: PasskeyPublicKey): boolean {
  switch (one.kty) {
    case "EC":
      return other.kty === "EC" && one.crv === other.crv && one.x === other.x && one.y === other.y;
    case "OKP":
      return other.kty === "OKP" && one.crv === other.crv && one.x === other.x;
    case "RSA":
      return other.kty === "RSA" && one.n === other.n && one.e === other.e;
    default:
      return one satisfies never;
  }
}

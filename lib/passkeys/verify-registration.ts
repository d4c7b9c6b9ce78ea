import { base64urlSchema, credentialIdSchema } from "@countersign/mcp/passkey-claim";
import { findKeyFault } from "@countersign/mcp/passkey-key";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { decodeAttestationObject, isoCBOR } from "@simplewebauthn/server/helpers";
import { z } from "zod";
import { findClientDataFault, readClientData } from "./client-data";
import type { Passkey } from "./passkey";
import { passkeyAlgorithms, publicJwkOf } from "./public-jwk";
import type { RelyingParty } from "./relying-party";

/** What an authenticator says of a passkey that it has made. */
export type Registered = Pick<Passkey, "credentialId" | "publicKey" | "counter" | "transports" | "isBackedUp">;

export type RegistrationAnswer = z.infer<typeof registrationSchema> & { challenge: string };

/** Reads what the browser sent as JSON (WebAuthn level 3, section 5.5): undefined where it has another form. */
export function parseRegistration(json: string): RegistrationAnswer | undefined {
  const sent = registrationSchema.safeParse(parseJson(json)).data;
  const clientData = sent && readClientData(sent.response.clientDataJSON);
  return sent && clientData && { ...sent, challenge: clientData.challenge };
}

/**
 * The passkey that was made in answer to this challenge, on our own page at our own origin, for our relying party, by a user who was
 * verified (WebAuthn level 3, section 7.1); undefined where it was not, or its key is of none of the three kinds. Who made the
 * authenticator was not asked, so what it says of that is not looked at.
 */
export async function verifyRegistration(
  answer: RegistrationAnswer,
  expected: { challenge: string; relyingParty: RelyingParty },
): Promise<Registered | undefined> {
  const { challenge, relyingParty } = expected;
  const clientData = readClientData(answer.response.clientDataJSON);
  const said = { type: "webauthn.create", challenge, origin: relyingParty.origin } as const;
  if (!clientData || findClientDataFault(clientData, said)) return undefined;
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...answer,
        response: { ...answer.response, attestationObject: withoutStatement(answer.response.attestationObject) },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: relyingParty.origin,
      expectedRPID: relyingParty.rpId,
      requireUserVerification: true,
      supportedAlgorithmIDs: passkeyAlgorithms,
    });
    if (!verified || registrationInfo.credential.id !== answer.id) return undefined;
    const { credential, credentialBackedUp } = registrationInfo;
    const publicKey = new Uint8Array(credential.publicKey);
    // What a verifier of receipts refuses could sign nothing that counts.
    const { jwk, alg } = publicJwkOf(publicKey);
    if (findKeyFault(jwk, alg)) return undefined;
    return {
      credentialId: answer.id,
      publicKey,
      counter: credential.counter,
      transports: answer.response.transports,
      isBackedUp: credentialBackedUp,
    };
  } catch {
    return undefined;
  }
}

/** The attestation object with the authenticator's data alone, as if it were of format "none" (section 8.7). */
function withoutStatement(attestationObject: string): string {
  const sent = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, "base64url")));
  const bare = new Map<string | number, CborValue>([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", sent.get("authData")],
  ]);
  return Buffer.from(isoCBOR.encode(bare)).toString("base64url");
}

type CborValue = Parameters<typeof isoCBOR.encode>[0];

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Hints how to reach an authenticator (section 5.8.4); those that nobody knows are left out. */
const transports = ["ble", "cable", "hybrid", "internal", "nfc", "smart-card", "usb"];

const registrationSchema = z
  .object({
    id: credentialIdSchema,
    rawId: z.string(),
    type: z.literal("public-key"),
    response: z.object({
      clientDataJSON: base64urlSchema({ maxBytes: 4096 }),
      attestationObject: base64urlSchema({ maxBytes: 16_384 }),
      transports: z
        .array(z.string())
        .max(20)
        .nullish()
        .transform((sent) => transports.filter((known) => sent?.includes(known))),
    }),
  })
  .refine((answer) => answer.rawId === answer.id);

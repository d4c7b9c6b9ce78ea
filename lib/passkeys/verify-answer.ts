import { base64urlSchema, credentialIdSchema } from "@countersign/mcp/passkey-claim";
import { type AuthenticationResponseJSON, verifyAuthenticationResponse } from "@simplewebauthn/server";
import type pg from "pg";
import { z } from "zod";
import type { Service } from "../process";
import { type ClientDataFault, findClientDataFault, readClientData } from "./client-data";
import type { Passkey } from "./passkey";
import { relyingParty } from "./relying-party";
import { isUserHandleOf } from "./user-handle";

/** `counter`: it was truly signed, but by a copy of the key, or by a device that was set back; or the passkey is gone. */
export type AnswerFault = ClientDataFault | "malformed" | "wrong_user_handle" | "bad_assertion" | "counter";

/**
 * Why `response` is not the signature of this passkey over this challenge, given on our own page at our own origin, for our relying
 * party, by a user who was verified (WebAuthn level 3, section 7.2); undefined where it is, and then its use is noted. The caller has
 * taken the challenge, and has seen to it that the passkey may count here. `isHandleRequired`: only the authenticator says whose it is.
 */
export async function findAnswerFault(
  service: Pick<Service, "config" | "pool">,
  passkey: Passkey,
  response: AuthenticationResponseJSON,
  expected: { challenge: string; isHandleRequired?: boolean },
): Promise<AnswerFault | undefined> {
  const { challenge } = expected;
  const { rpId, origin } = relyingParty(service.config);
  const clientData = readClientData(response.response.clientDataJSON);
  if (!clientData) return "malformed";
  const fault = findClientDataFault(clientData, { type: "webauthn.get", challenge, origin });
  if (fault) return fault;
  const { userHandle } = response.response;
  if (userHandle === undefined ? expected.isHandleRequired : !isUserHandleOf(passkey, userHandle))
    return "wrong_user_handle";
  const counter = await signedCounter(passkey, response, { challenge, rpId, origin });
  if (counter === undefined) return "bad_assertion";
  return (await noteUse(service.pool, passkey, counter)) ? undefined : "counter";
}

/**
 * Reads an authenticator's answer from the JSON that the browser sent (WebAuthn level 3, section 5.5): undefined where it has another
 * form, or is larger than a receipt can carry. `challenge` is what it claims to answer.
 */
export function parseAnswer(json: string): { challenge: string; response: AuthenticationResponseJSON } | undefined {
  const sent = answerSchema.safeParse(json).data;
  const clientData = sent && readClientData(sent.response.clientDataJSON);
  if (!sent || !clientData) return undefined;
  const { id, rawId, type } = sent;
  const { userHandle, ...signed } = sent.response;
  const response = typeof userHandle === "string" ? { ...signed, userHandle } : signed;
  return { challenge: clientData.challenge, response: { id, rawId, type, response, clientExtensionResults: {} } };
}

/** The counter of an answer that was truly signed, else undefined. */
async function signedCounter(
  passkey: Passkey,
  response: AuthenticationResponseJSON,
  expected: { challenge: string; rpId: string; origin: string },
): Promise<number | undefined> {
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response,
      expectedChallenge: expected.challenge,
      expectedOrigin: expected.origin,
      expectedRPID: expected.rpId,
      requireUserVerification: true,
      // The counter is compared where it is written, so that of two answers at once one counts.
      credential: { id: passkey.credentialId, publicKey: passkey.publicKey, counter: 0 },
    });
    return verified ? authenticationInfo.newCounter : undefined;
  } catch {
    return undefined;
  }
}

/** False where the counter did not grow, though it or the last one is not zero (section 6.1.1), or the passkey is gone. */
async function noteUse(pool: Pick<pg.Pool, "query">, passkey: Passkey, counter: number): Promise<boolean> {
  const { rowCount } = await pool.query(
    `UPDATE "passkey" SET "counter" = $2, "last_used_at" = clock_timestamp()
     WHERE "credential_id" = $1 AND ("counter" < $2 OR ("counter" = 0 AND $2 = 0))`,
    [passkey.credentialId, counter],
  );
  return rowCount === 1;
}

// The bounds of a receipt's evidence: what counts here can be checked again later.
const answerSchema = z
  .string()
  .max(16_384)
  .transform((text, context) => {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      context.addIssue({ code: "custom", message: "must be JSON" });
      return z.NEVER;
    }
  })
  .pipe(
    z.object({
      id: credentialIdSchema,
      rawId: z.string(),
      type: z.literal("public-key"),
      response: z.object({
        clientDataJSON: base64urlSchema({ maxBytes: 4096 }),
        authenticatorData: base64urlSchema({ minBytes: 37, maxBytes: 4096 }),
        signature: base64urlSchema({ maxBytes: 1024 }),
        userHandle: base64urlSchema({ maxBytes: 64 }).nullish(),
      }),
    }),
  )
  .refine((answer) => answer.rawId === answer.id);

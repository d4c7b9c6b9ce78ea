import { createPublicKey } from "node:crypto";
import {
  generateRegistrationOptions,
  type PublicKeyCredentialCreationOptionsJSON,
  type RegistrationResponseJSON,
} from "@simplewebauthn/server";
import { appendAudit } from "../audit/append";
import { readClock } from "../database/clock";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { isRecent, type PersonSession } from "../sessions/session";
import { challengeSeconds, issueChallenge, takeChallenge } from "./challenge";
import { cleanPasskeyName } from "./name";
import { macOfPasskey, type Passkey, readPasskeys } from "./passkey";
import { passkeyAlgorithms, publicJwkOf } from "./public-jwk";
import { relyingParty } from "./relying-party";
import { userHandleOf } from "./user-handle";
import { type Registered, readRegistration } from "./verify-registration";

/** Of one identity. */
export const passkeysMax = 20;

export type AskToRegister =
  | { kind: "question"; question: PublicKeyCredentialCreationOptionsJSON }
  | { kind: "sign_in_again" | "too_many" };

/**
 * Asks the person's authenticator for a passkey that finds its account by itself and verifies its user (WebAuthn level 3, section 5.4),
 * for the identity of this session. `sign_in_again`: it was not signed in within 300 s; `too_many`: there are 20.
 */
export async function askToRegister(service: Service, session: PersonSession): Promise<AskToRegister> {
  if (!isRecent(session, await readClock(service.pool))) return { kind: "sign_in_again" };
  const existing = await readPasskeys(service.prisma, service.secrets, session);
  if (existing.length >= passkeysMax) return { kind: "too_many" };
  const { challenge } = await issueChallenge(service.pool, { purpose: "register", sid: session.sid });
  const { rpId, name } = relyingParty(service.config);
  const question = await generateRegistrationOptions({
    rpName: name,
    rpID: rpId,
    userName: session.account,
    userDisplayName: session.name,
    userID: userHandleOf(session),
    challenge: Buffer.from(challenge, "base64url"),
    timeout: challengeSeconds * 1000,
    attestationType: "none",
    excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: passkeyAlgorithms,
  });
  return { kind: "question", question };
}

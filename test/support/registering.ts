import { askToRegister, type RegisterResult, registerPasskey } from "@/lib/passkeys/register";
import { relyingParty } from "@/lib/passkeys/relying-party";
import type { Service } from "@/lib/process";
import { stepUpForAccount } from "@/lib/sessions/replace";
import type { PersonSession } from "@/lib/sessions/session";
import {
  type AnswerOverrides,
  type CoseAlgorithm,
  createAuthenticator,
  type SoftwareAuthenticator,
} from "./software-authenticator";

/** What a session has whose person has just proved with a passkey that they may change the account. */
export const steppedUp = { byPasskey: true, stepUpFor: stepUpForAccount } as const;

/** An authenticator at the service's own page. */
export function authenticatorFor(service: Service, alg: CoseAlgorithm = -7): SoftwareAuthenticator {
  const { rpId, origin } = relyingParty(service.config);
  return createAuthenticator({ rpId, origin, alg });
}

/** Registers an authenticator as the account page does, and says what came of it. `overrides` are what it says otherwise. */
export async function registerAs(
  service: Service,
  session: PersonSession,
  authenticator: SoftwareAuthenticator,
  overrides: AnswerOverrides = {},
  name = "Phone",
): Promise<RegisterResult> {
  const asked = await askToRegister(service, session, name);
  if (asked.kind !== "question") throw new Error(`asked in vain: ${asked.kind}`);
  const { challenge, user } = asked.question;
  const answer = JSON.stringify(authenticator.register(challenge, user.id, overrides));
  return registerPasskey(service, session, { answer, name });
}

/** An authenticator that this session has registered. */
export async function registeredBy(
  service: Service,
  session: PersonSession,
  alg: CoseAlgorithm = -7,
): Promise<SoftwareAuthenticator> {
  const authenticator = authenticatorFor(service, alg);
  const result = await registerAs(service, session, authenticator);
  if (result.kind !== "registered") throw new Error(`not registered: ${result.kind}`);
  return authenticator;
}

import type { PublicKeyCredentialRequestOptionsJSON } from "@simplewebauthn/server";
import { appendHourly } from "../audit/append-hourly";
import type { Service } from "../process";
import { replaceSession, stepUpForAccount } from "../sessions/replace";
import type { PersonSession, SessionClaims } from "../sessions/session";
import { issueBoundChallenge, takeBoundChallenge } from "./bound-challenge";
import { challengeSeconds } from "./challenge";
import { type Passkey, readPasskey, readPasskeysOfUser } from "./passkey";
import { relyingParty } from "./relying-party";
import { passkeyAmr } from "./sign-in";
import { type AnswerFault, findAnswerFault, parseAnswer } from "./verify-answer";

/**
 * Asks the passkeys of this session's identity to prove anew that the person is there. `stepUpFor` is an approval's id or
 * `stepUpForAccount`. Undefined where the identity has no passkey.
 */
export async function askToStepUp(
  service: Service,
  session: PersonSession,
  stepUpFor: string,
): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
  const all = await readPasskeysOfUser(service.prisma, service.secrets, session.userId);
  const passkeys = all.filter((passkey) => mayStepUp(passkey, session, stepUpFor));
  if (passkeys.length === 0) return undefined;
  const challenge = await issueBoundChallenge(service, { purpose: "sign_in", sid: session.sid, target: stepUpFor });
  return {
    challenge,
    rpId: relyingParty(service.config).rpId,
    allowCredentials: passkeys.map(({ credentialId }) => ({ id: credentialId, type: "public-key" })),
    userVerification: "required",
    timeout: challengeSeconds * 1000,
  };
}

/**
 * Proves anew that the person of this session is there, by a passkey of the same identity: another's cannot be switched to. A new session
 * takes the old one's place. Undefined: the answer does not count for this session and this `stepUpFor`, which stands in the history once
 * an hour, or the session ended meanwhile.
 */
export async function stepUpWithPasskey(
  service: Service,
  session: PersonSession,
  answer: string,
  stepUpFor: string,
  from: { userAgent?: string | undefined; address?: string | undefined } = {},
): Promise<SessionClaims | undefined> {
  const fault = await findStepUpFault(service, session, answer, stepUpFor);
  if (fault) {
    const { iss, sub, userId } = session;
    await appendHourly(service.pool, {
      type: "security.passkey_failed",
      ...(stepUpFor === stepUpForAccount ? {} : { approvalId: stepUpFor }),
      actor: { kind: "person", iss, sub, userId },
      data: { fault },
    });
    return undefined;
  }
  return replaceSession(service, session, {
    authTime: Math.floor(Date.now() / 1000),
    amr: passkeyAmr,
    stepUpFor,
    byPasskey: true,
    ...from,
  });
}

/** For an approval a passkey of the session's identity; for the account, where one of the person's has to speak for all, any. */
function mayStepUp(passkey: Passkey, { userId, iss, sub }: PersonSession, stepUpFor: string): boolean {
  if (passkey.userId !== userId) return false;
  return stepUpFor === stepUpForAccount || (passkey.iss === iss && passkey.sub === sub);
}

async function findStepUpFault(
  service: Service,
  session: PersonSession,
  answer: string,
  stepUpFor: string,
): Promise<AnswerFault | "no_challenge" | "not_theirs" | undefined> {
  const parsed = parseAnswer(answer);
  if (!parsed) return "malformed";
  const { challenge, response } = parsed;
  const asked = { purpose: "sign_in", sid: session.sid, target: stepUpFor, challenge } as const;
  if (!(await takeBoundChallenge(service, asked))) return "no_challenge";
  const passkey = await readPasskey(service.prisma, service.secrets, response.id);
  if (!passkey || !mayStepUp(passkey, session, stepUpFor)) return "not_theirs";
  return findAnswerFault(service, passkey, response, { challenge });
}

import { appendHourly } from "../audit/append-hourly";
import type { Service } from "../process";
import type { SessionClaims } from "../sessions/session";
import { startSession } from "../sessions/start";
import { isAuthenticIdentity } from "../users/identity";
import { type Passkey, readPasskey } from "./passkey";
import { readSignInChallenge, spendSignInChallenge } from "./sign-in-challenge";
import { type AnswerFault, findAnswerFault, parseAnswer } from "./verify-answer";

/**
 * What a passkey proves, in the values of RFC 8176: that a key is held, and that a user was there. Whether hardware holds the key, and
 * whether a PIN or a body unlocked it, nobody has attested.
 */
export const passkeyAmr = ["pop", "user"];

type SignInFault = AnswerFault | "no_challenge" | "unknown_passkey" | "not_allowed" | "replayed";

/**
 * Signs in whoever holds a passkey: the authenticator says which, the session is of the identity that registered it. `headers` are the
 * request's, with the cookie of the challenge. Undefined for every failure alike; it stands in the history, once an hour for a cause.
 */
export async function signInWithPasskey(
  service: Service,
  answer: string,
  headers: Headers,
): Promise<SessionClaims | undefined> {
  const judged = await judge(service, answer, headers);
  if ("fault" in judged) {
    const { fault, passkey } = judged;
    const whose = passkey ? { credentialId: passkey.credentialId, userId: passkey.userId } : {};
    await appendHourly(service.pool, {
      type: "security.passkey_failed",
      actor: { kind: "service" },
      data: { fault, ...whose },
    });
    return undefined;
  }
  const { userId, iss, sub } = judged.passkey;
  const claims = await startSession(service, {
    userId,
    iss,
    sub,
    amr: passkeyAmr,
    userAgent: headers.get("user-agent") ?? undefined,
    address: headers.get("x-forwarded-for") ?? undefined,
  });
  return { ...claims, byPasskey: true };
}

async function judge(
  service: Service,
  answer: string,
  headers: Headers,
): Promise<{ passkey: Passkey } | { fault: SignInFault; passkey?: Passkey }> {
  const parsed = parseAnswer(answer);
  if (!parsed) return { fault: "malformed" };
  const issued = await readSignInChallenge(service, headers);
  if (!issued) return { fault: "no_challenge" };
  const passkey = await readPasskey(service.prisma, service.secrets, parsed.response.id);
  if (!passkey) return { fault: "unknown_passkey" };
  if (!(await maySignIn(service, passkey))) return { fault: "not_allowed", passkey };
  const expected = { challenge: issued.challenge, isHandleRequired: true };
  const fault = await findAnswerFault(service, passkey, parsed.response, expected);
  if (fault) return { fault, passkey };
  return (await spendSignInChallenge(service, issued)) ? { passkey } : { fault: "replayed", passkey };
}

/** The identity is still this user's (I17), of an issuer that still signs people in here, and the user is not disabled. */
async function maySignIn(service: Service, { iss, sub, userId }: Passkey): Promise<boolean> {
  const isKnown =
    iss === service.issuer || service.config.oidcProviders.some(({ subjectIssuer }) => subjectIssuer === iss);
  if (!isKnown) return false;
  const identity = await service.prisma.identity.findUnique({
    where: { iss_sub: { iss, sub } },
    include: { user: { select: { disabledAt: true } } },
  });
  return (
    identity?.userId === userId && identity.user.disabledAt === null && isAuthenticIdentity(service.secrets, identity)
  );
}

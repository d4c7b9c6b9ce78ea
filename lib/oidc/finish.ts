import { appendHourly } from "../audit/append-hourly";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import { readSession } from "../sessions/read";
import { replaceSession, stepUpForAccount } from "../sessions/replace";
import type { PersonSession, SessionClaims } from "../sessions/session";
import { startSession } from "../sessions/start";
import type { Transaction } from "../sessions/transaction";
import { linkSelf } from "../users/link-self";
import { identityFromClaims, type ProvedIdentity } from "./claims";
import { findOrAddUser } from "./find-or-add-user";
import { type ProofFault, whyNotFresh } from "./fresh-proof";
import type { ConfiguredProvider } from "./parse-providers";
import { syncRole } from "./sync-role";

/**
 * Why what came back from a provider did nothing. `claims`: no subject that this service can take; `no_access`: unknown or disabled;
 * `other_session`: the session that began it is not this browser's any more; `other_account`: somebody else signed in at the provider.
 */
export type FlowRefusal =
  | "claims"
  | "no_access"
  | "other_session"
  | "other_account"
  | "already_linked"
  | "taken"
  | ProofFault;

export type Ending =
  | { kind: "signed_in"; claims: SessionClaims }
  | { kind: "stepped_up"; claims: SessionClaims }
  | { kind: "linked" }
  | { kind: "refused"; why: FlowRefusal };

export type Answered = {
  provider: ConfiguredProvider;
  /** Of the verified ID token. */
  claims: Record<string, unknown>;
  /** Absent: a plain sign-in. `now` is the database's clock when the transaction was taken. */
  taken?: { transaction: Transaction; now: Date };
  /** Those of the request that brought the answer. */
  headers: Headers;
};

/** Ends a flow with a provider's verified answer: signs in, steps up or links, or does nothing and says why. */
export async function finishFlow(service: Service, answered: Answered): Promise<Ending> {
  const { provider, claims, taken, headers } = answered;
  const read = identityFromClaims(provider, claims);
  if (!read.ok) {
    service.log.warn({ provider: provider.id, fault: read.fault }, "an ID token names nobody that can sign in here");
    return { kind: "refused", why: "claims" };
  }
  if (!taken) return signIn(service, provider, read.identity, headers);
  const { transaction, now } = taken;
  const session = await readSession(service, headers);
  if (!session || session.sid !== transaction.sid || session.userId !== transaction.userId)
    return { kind: "refused", why: "other_session" };
  return transaction.purpose === "link"
    ? link(service, session, provider, read.identity, transaction, now)
    : stepUp(service, session, read.identity, transaction, now, headers);
}

async function signIn(
  service: Service,
  provider: ConfiguredProvider,
  proved: ProvedIdentity,
  headers: Headers,
): Promise<Ending> {
  const found = await findOrAddUser(service, provider, proved);
  if (!found) return { kind: "refused", why: "no_access" };
  await syncRole(service, provider, found, proved);
  await keepContact(service, found, proved);
  const { iss, sub, amr } = proved;
  const authTime = authTimeOf(proved, await readClock(service.pool));
  const claims = await startSession(service, { userId: found.userId, iss, sub, amr, authTime, ...fromOf(headers) });
  return { kind: "signed_in", claims };
}

/** The subject comes before the freshness: that somebody else is here matters more than how long ago (section 8). */
async function stepUp(
  service: Service,
  session: PersonSession,
  proved: ProvedIdentity,
  transaction: Transaction,
  now: Date,
  headers: Headers,
): Promise<Ending> {
  if (proved.iss !== session.iss || proved.sub !== session.sub) {
    await noteOtherAccount(service, session, transaction);
    return { kind: "refused", why: "other_account" };
  }
  const fault = whyNotFresh(proved.authTime, transaction.startedAt, now);
  if (fault) return { kind: "refused", why: fault };
  const claims = await replaceSession(service, session, {
    authTime: authTimeOf(proved, now),
    amr: proved.amr,
    stepUpFor: transaction.approvalId ?? stepUpForAccount,
    ...fromOf(headers),
  });
  return claims ? { kind: "stepped_up", claims } : { kind: "refused", why: "other_session" };
}

async function link(
  service: Service,
  session: PersonSession,
  provider: ConfiguredProvider,
  { iss, sub, authTime }: ProvedIdentity,
  transaction: Transaction,
  now: Date,
): Promise<Ending> {
  const fault = whyNotFresh(authTime, transaction.startedAt, now);
  if (fault) return { kind: "refused", why: fault };
  const result = await linkSelf(service, session, { iss, sub, provider: provider.id });
  return result === "linked" ? { kind: "linked" } : { kind: "refused", why: result };
}

/** Never later than now; 0, which is never fresh, where the provider does not say. */
const authTimeOf = ({ authTime = 0 }: ProvedIdentity, now: Date) =>
  Math.min(authTime, Math.floor(now.getTime() / 1000));

const fromOf = (headers: Headers) => ({
  userAgent: headers.get("user-agent") ?? undefined,
  address: headers.get("x-forwarded-for") ?? undefined,
});

/** What the provider calls the person's address may change; who they are does not hang on it. */
async function keepContact(
  service: Service,
  { userId, linkedBy }: { userId: string; linkedBy: string },
  { contact }: ProvedIdentity,
): Promise<void> {
  if (linkedBy !== "sign_in" || contact === null) return;
  await service.prisma.user.updateMany({
    where: { id: userId, email: null, OR: [{ contact: null }, { contact: { not: contact } }] },
    data: { contact },
  });
}

async function noteOtherAccount(service: Service, session: PersonSession, transaction: Transaction): Promise<void> {
  const { iss, sub, userId } = session;
  await appendHourly(service.pool, {
    type: "security.wrong_person",
    ...(transaction.approvalId ? { approvalId: transaction.approvalId } : {}),
    actor: { kind: "person", iss, sub, userId },
    data: { what: "step_up", provider: transaction.provider },
  });
}

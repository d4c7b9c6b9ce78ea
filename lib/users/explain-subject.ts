import type { Subject } from "../approvals/approval";
import { type AskingClient, listAskingClients, listPolicyIssuers } from "../clients/list-asking";
import type { Service } from "../process";
import { type LinkedBy, type ListedIdentity, listIdentities } from "./identities";
import { type NamedUser, nameUser } from "./named-user";
import { similarIssuers } from "./similar-name";
import { providersOf, type Way, waysToSignIn } from "./ways-to-sign-in";

/** Why the person of a subject could not decide. */
export type Obstacle =
  | "issuer_unknown"
  | "no_such_account"
  | "no_new_users"
  | "disabled"
  | "not_authentic"
  | "only_as_itself"
  | "no_way_to_sign_in";

/** What somebody who looks for a fault should know besides. */
export type Remark =
  | { kind: "similar_issuer"; iss: string }
  | { kind: "issuer_of_provider"; label: string; subjectIssuer: string }
  | { kind: "similar_sub"; sub: string }
  | { kind: "address_as_sub"; sub: string }
  | { kind: "same_sub_elsewhere"; iss: string; userId: string }
  | { kind: "never_signed_in" }
  | { kind: "made_at_first_sign_in"; label: string }
  | { kind: "decides_only_as_itself" }
  | { kind: "not_authentic" }
  | { kind: "no_client_asks" }
  | { kind: "policy_unreadable"; clientId: string; name: string }
  | { kind: "frozen"; clientId: string; name: string; until: Date | undefined }
  | { kind: "passkey_needed"; clientId: string; name: string; tools: string[] };

export type SubjectReport = Subject & {
  canDecide: boolean;
  /** Empty where they can decide. */
  obstacles: Obstacle[];
  remarks: Remark[];
  user: (NamedUser & { isDisabled: boolean; linkedBy: LinkedBy | null }) | undefined;
  /** `decides`: signed in like this they may decide for the subject. */
  ways: (Way & { decides: boolean })[];
};

/**
 * Who the person of a subject is here, how they can sign in, and why a page would refuse them or nobody could open a link: for whoever
 * wonders why an approval is not answered. Reads only. `iss` and `sub` as in the token; near misses are remarked on, never taken.
 */
export async function explainSubject(service: Service, subject: Subject): Promise<SubjectReport> {
  const { iss, sub } = subject;
  const row = await service.prisma.identity.findUnique({ where: { iss_sub: { iss, sub } }, include: { user: true } });
  const identities = row ? await listIdentities(service, row.userId) : [];
  const own = identities.find((identity) => identity.iss === iss && identity.sub === sub);
  const known = row && own ? { user: row.user, own, identities } : undefined;
  const ways = known ? await waysOf(service, known, subject) : waysOfStranger(service, subject);
  const canDecide = !row?.user.disabledAt && ways.some(({ decides }) => decides);
  const clients = await listAskingClients(service, subject);
  return {
    iss,
    sub,
    canDecide,
    obstacles: canDecide ? [] : obstaclesOf(service, subject, known, ways),
    remarks: [
      ...(await namesMeant(service, subject, known !== undefined)),
      ...signInRemarks(service, subject, known, ways),
      ...clientRemarks(clients, ways),
    ],
    user: known && {
      ...nameUser(known.user, identities),
      isDisabled: known.user.disabledAt !== null,
      linkedBy: known.own.origin,
    },
    ways,
  };
}

type User = {
  id: string;
  email: string | null;
  contact: string | null;
  name: string;
  passwordHash: string | null;
  disabledAt: Date | null;
};
type Known = { user: User; own: ListedIdentity; identities: ListedIdentity[] };
type JudgedWay = SubjectReport["ways"][number];

async function waysOf(service: Service, { user, own, identities }: Known, subject: Subject): Promise<JudgedWay[]> {
  const ways = await waysToSignIn(service, { user, identities: identities.filter(({ isAuthentic }) => isAuthentic) });
  return ways.map((way) => ({
    ...way,
    decides: own.isAdminLink || (way.iss === subject.iss && way.sub === subject.sub),
  }));
}

/** Somebody who was never here becomes a user at the first sign-in, where the provider is configured so. */
function waysOfStranger(service: Service, { iss, sub }: Subject): JudgedWay[] {
  return providersOf(service, iss)
    .filter(({ createUsers }) => createUsers)
    .map(({ id, label }) => ({ kind: "provider", id, label, iss, sub, decides: true }));
}

function obstaclesOf(service: Service, { iss }: Subject, known: Known | undefined, ways: JudgedWay[]): Obstacle[] {
  if (!known) {
    if (iss === service.issuer) return ["no_such_account"];
    return [providersOf(service, iss).length > 0 ? "no_new_users" : "issuer_unknown"];
  }
  const { user, own } = known;
  const obstacles: Obstacle[] = [
    ...(user.disabledAt ? (["disabled"] as const) : []),
    ...(own.isAuthentic ? [] : (["not_authentic"] as const)),
  ];
  if (ways.length === 0) return [...obstacles, "no_way_to_sign_in"];
  return obstacles.length > 0 ? obstacles : ["only_as_itself"];
}

/** What was perhaps meant instead of this issuer or this subject. */
async function namesMeant(service: Service, { iss, sub }: Subject, isKnown: boolean): Promise<Remark[]> {
  const { oidcProviders } = service.config;
  const issuers = await service.prisma.identity.findMany({ distinct: ["iss"], select: { iss: true } });
  const known = [
    service.issuer,
    ...oidcProviders.flatMap((provider) => [provider.subjectIssuer, provider.issuer]),
    ...issuers.map((row) => row.iss),
    ...(await listPolicyIssuers(service)),
  ];
  const remarks: Remark[] = [
    ...similarIssuers(iss, known).map((similar) => ({ kind: "similar_issuer" as const, iss: similar })),
    ...oidcProviders
      .filter(({ issuer, subjectIssuer }) => issuer === iss && subjectIssuer !== iss)
      .map(({ label, subjectIssuer }) => ({ kind: "issuer_of_provider" as const, label, subjectIssuer })),
  ];
  return isKnown ? remarks : [...remarks, ...(await subjectsMeant(service, { iss, sub }))];
}

async function subjectsMeant(service: Service, { iss, sub }: Subject): Promise<Remark[]> {
  const { prisma } = service;
  const wanted = sub.trim();
  const [elsewhere, alike, address] = await Promise.all([
    prisma.identity.findMany({ where: { sub, NOT: { iss } }, orderBy: { iss: "asc" }, take: 5 }),
    prisma.identity.findMany({
      where: { iss, sub: { equals: wanted.replaceAll(/[\\%_]/g, "\\$&"), mode: "insensitive" }, NOT: { sub } },
      orderBy: { sub: "asc" },
      take: 5,
    }),
    iss === service.issuer ? prisma.user.findUnique({ where: { email: wanted.toLowerCase() } }) : null,
  ]);
  return [
    ...(address ? [{ kind: "address_as_sub" as const, sub: address.id }] : []),
    ...alike.map((row) => ({ kind: "similar_sub" as const, sub: row.sub })),
    ...elsewhere.map((row) => ({ kind: "same_sub_elsewhere" as const, iss: row.iss, userId: row.userId })),
  ];
}

function signInRemarks(service: Service, { iss }: Subject, known: Known | undefined, ways: JudgedWay[]): Remark[] {
  if (!known)
    return providersOf(service, iss)
      .filter(({ createUsers }) => createUsers)
      .map(({ label }) => ({ kind: "made_at_first_sign_in", label }));
  const { identities, own } = known;
  const isNew = identities.every(({ lastSignInAt }) => lastSignInAt === null);
  const canDecide = ways.some(({ decides }) => decides);
  const isPartly = canDecide && ways.some(({ decides }) => !decides);
  return [
    ...(isNew ? [{ kind: "never_signed_in" as const }] : []),
    ...(isPartly ? [{ kind: "decides_only_as_itself" as const }] : []),
    // A local account signs in by its password all the same.
    ...(canDecide && !own.isAuthentic ? [{ kind: "not_authentic" as const }] : []),
  ];
}

function clientRemarks(clients: AskingClient[], ways: JudgedWay[]): Remark[] {
  const hasPasskey = ways.some(({ kind, decides }) => kind === "passkeys" && decides);
  const able = clients.filter(({ isDisabled }) => !isDisabled);
  const unreadable = able
    .filter(({ isPolicyReadable }) => !isPolicyReadable)
    .map(({ clientId, name }) => ({ kind: "policy_unreadable" as const, clientId, name }));
  const asking = able.filter(({ isPolicyReadable }) => isPolicyReadable);
  if (asking.length === 0) return [{ kind: "no_client_asks" }, ...unreadable];
  const stops = asking.flatMap(({ clientId, name, isFrozen, frozenUntil, passkeyTools }): Remark[] => [
    ...(isFrozen ? [{ kind: "frozen" as const, clientId, name, until: undefined }] : []),
    ...(frozenUntil ? [{ kind: "frozen" as const, clientId, name, until: frozenUntil }] : []),
    ...(passkeyTools.length > 0 && !hasPasskey
      ? [{ kind: "passkey_needed" as const, clientId, name, tools: passkeyTools }]
      : []),
  ]);
  return [...unreadable, ...stops];
}

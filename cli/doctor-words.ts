import type { Obstacle, Remark, SubjectReport } from "@/lib/users/explain-subject";
import type { LinkedBy } from "@/lib/users/identities";

const links: Record<LinkedBy, string> = {
  self: "a local account of this service",
  sign_in: "made at their first sign-in",
  admin: "linked by an admin, so they decide for it however they sign in",
  self_service: "linked by the person, so they decide for it only when they sign in as it",
};

/** How an identity came to be its user's. */
export const linkWords = (linkedBy: LinkedBy | null): string =>
  linkedBy === null ? "by nothing but a row that anybody may have written" : links[linkedBy];

/** One way to sign in, and whether it is of use. */
export function wayWords(way: SubjectReport["ways"][number]): string {
  const how =
    way.kind === "password"
      ? "password"
      : way.kind === "passkeys"
        ? `passkey (${way.count} of ${way.sub} at ${way.iss})`
        : `${way.label} (provider ${way.id})`;
  return way.decides ? how : `${how}: signed in like this they see the page of an unknown link`;
}

const obstacles: Record<Obstacle, string> = {
  issuer_unknown: "No provider signs people in under this issuer, it is not this service, and no admin has linked it.",
  no_such_account: "This service has no account with this subject: that of a local account is its user id (usr_…).",
  no_new_users: "They have never signed in, and their provider makes no new users here (createUsers is false).",
  disabled: "The user is disabled: users enable.",
  not_authentic: "The stored identity was not written with this deployment's secret: find out who wrote it.",
  only_as_itself: "They can sign in, but not as this identity, and no admin has linked it: users link.",
  no_way_to_sign_in: "They have no password, no passkey, and no configured provider.",
};

/** Why they could not decide. */
export const obstacleWords = (obstacle: Obstacle): string => obstacles[obstacle];

/** What else to know. */
export function remarkWords(remark: Remark, { iss, sub }: { iss: string; sub: string }): string {
  switch (remark.kind) {
    case "similar_issuer":
      return `${remark.iss} is known here; ${iss} is not ${remark.iss}: issuers are compared character by character.`;
    case "issuer_of_provider":
      return `Calls of people who sign in with ${remark.label} must carry iss ${remark.subjectIssuer} (its subjectIssuer).`;
    case "similar_sub":
      return `${remark.sub} is known at this issuer; ${sub} is not ${remark.sub}: subjects are compared character by character.`;
    case "address_as_sub":
      return `An e-mail address is no subject: that of this account is ${remark.sub}.`;
    case "same_sub_elsewhere":
      return `The same subject is known at ${remark.iss} (${remark.userId}); at another issuer it is somebody else.`;
    case "never_signed_in":
      return "They have never signed in here; a mint answer warns of that (subject_never_signed_in).";
    case "made_at_first_sign_in":
      return `They have never signed in here; their first sign-in with ${remark.label} makes them a user.`;
    case "decides_only_as_itself":
      return "Only some of these ways are of use for this subject.";
    case "not_authentic":
      return obstacles.not_authentic;
    case "no_client_asks":
      return "No client's policy names this issuer: a mint for it is refused (issuer_not_allowed).";
    case "policy_unreadable":
      return `The policy of ${remark.name} (${remark.clientId}) cannot be read, so it can ask for nothing: clients policy.`;
    case "frozen":
      return `${remark.name} (${remark.clientId}) is frozen for ${remark.until ? `them until ${remark.until.toISOString()}` : "everybody"}.`;
    case "passkey_needed":
      return `${remark.name} (${remark.clientId}) needs a passkey for ${toolWords(remark.tools)}, and they have none that counts.`;
    default:
      return remark satisfies never;
  }
}

const toolWords = (tools: string[]) =>
  tools.map((tool) => (tool === "*" ? (tools.length > 1 ? "every other tool" : "every tool") : tool)).join(", ");

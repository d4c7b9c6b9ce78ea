import { callerSchema } from "../approvals/mint-request";
import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import type { Database } from "../database/prisma";
import { newId } from "../ids/new-id";
import { hashPassword } from "../passwords/hash";
import { Problem } from "../problem";
import type { Service } from "../process";
import type { Secrets } from "../secrets/derive";
import { normalEmail } from "./email";
import { macOfIdentity } from "./identity";
import { type Role, writeRoles } from "./roles";

export type NewUser = { email: string; name: string; password: string; roles?: Role[] };
export type NewProviderUser = { iss: string; sub: string; name: string; roles?: Role[] };
export type AddedUser = { userId: string; iss: string; sub: string };

/**
 * Adds a local account: its identity is `{ iss: this service, sub: its id }`. Errors: `invalid_request` for an address that is taken or
 * is none, a name or password out of bounds, or more than one role.
 */
export async function addUser(service: Service, user: NewUser, actor: AuditActor): Promise<AddedUser> {
  const email = normalEmail(user.email);
  const profile = profileOf(user);
  const passwordHash = await hashPassword(user.password).catch((error: Error) => {
    throw error instanceof RangeError ? refusal("/password", error.message) : error;
  });
  const id = newId("usr");
  await service.prisma.$transaction(async (tx) => {
    const { count } = await tx.user.createMany({
      data: [{ id, email, name: profile.name, passwordHash, roles: [] }],
      skipDuplicates: true,
    });
    if (count === 0) throw refusal("/email", "is taken");
    await finish(tx, service.secrets, { iss: service.issuer, sub: id, userId: id, linkedBy: "self" }, profile, actor);
  });
  return { userId: id, iss: service.issuer, sub: id };
}

/**
 * Adds somebody who will sign in at a provider, before they first do: they have no address and no password here. Errors: `invalid_request`
 * for an identity that is somebody's already, one of this service's own issuer, `iss`, `sub` or name out of bounds, or more than one role.
 */
export async function addProviderUser(service: Service, user: NewProviderUser, actor: AuditActor): Promise<AddedUser> {
  const { iss, sub } = user;
  const identity = callerSchema.pick({ iss: true, sub: true }).safeParse({ iss, sub });
  if (!identity.success)
    throw new Problem("invalid_request", {
      errors: identity.error.issues.map(({ path, message }) => ({ pointer: `/${path.join("/")}`, message })),
    });
  if (iss === service.issuer)
    throw refusal("/iss", "is this service itself: its people have an address and a password");
  const profile = profileOf(user);
  const id = newId("usr");
  await service.prisma.$transaction(async (tx) => {
    await tx.user.create({ data: { id, name: profile.name, roles: [] } });
    await finish(tx, service.secrets, { iss, sub, userId: id, linkedBy: "sign_in" }, profile, actor);
  });
  return { userId: id, iss, sub };
}

type Profile = { name: string; roles: Role[] };

function profileOf({ name, roles = [] }: { name: string; roles?: Role[] }): Profile {
  const trimmed = name.trim();
  if (trimmed === "" || [...trimmed].length > 100) throw refusal("/name", "must have 1 to 100 characters");
  if (roles.length > 1) throw refusal("/roles", "auditor and admin are disjoint: at most one");
  return { name: trimmed, roles };
}

/** What both kinds of user need beside their row: an identity of their own, authenticated roles, a place in the history. */
async function finish(
  tx: Pick<Database, "user" | "identity" | "$executeRawUnsafe">,
  secrets: Secrets,
  own: { iss: string; sub: string; userId: string; linkedBy: string },
  { roles }: Profile,
  actor: AuditActor,
): Promise<void> {
  const identity = { ...own, mayApprove: true };
  const { count } = await tx.identity.createMany({
    data: [{ ...identity, mac: macOfIdentity(secrets, identity) }],
    skipDuplicates: true,
  });
  if (count === 0) throw refusal("/sub", "belongs to another user");
  if (roles.length > 0) await writeRoles(tx, secrets, own.userId, roles);
  const { userId, iss, sub } = own;
  const at = own.linkedBy === "self" ? {} : { iss, sub };
  await appendAudit(tx, { type: "admin.user_added", actor, data: { userId, roles, ...at } });
}

const refusal = (pointer: string, message: string) =>
  new Problem("invalid_request", { errors: [{ pointer, message }] });

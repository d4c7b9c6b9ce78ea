import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { newId } from "../ids/new-id";
import { hashPassword } from "../passwords/hash";
import { Problem } from "../problem";
import type { Service } from "../process";
import { normalEmail } from "./email";
import { macOfIdentity } from "./identity";

export const roles = ["auditor", "admin"] as const;
export type Role = (typeof roles)[number];
export type NewUser = { email: string; name: string; password: string; roles?: Role[] };

/**
 * Adds a local account: its identity is `{ iss: this service, sub: its id }`. Errors: `invalid_request` for an address that is taken or
 * is none, a name or password out of bounds, or more than one role.
 */
export async function addUser(
  service: Service,
  user: NewUser,
  actor: AuditActor,
): Promise<{ userId: string; iss: string; sub: string }> {
  const email = normalEmail(user.email);
  const name = user.name.trim();
  if (name === "" || [...name].length > 100) throw refusal("/name", "must have 1 to 100 characters");
  if ((user.roles ?? []).length > 1) throw refusal("/roles", "auditor and admin are disjoint: at most one");
  const passwordHash = await hashPassword(user.password).catch((error: Error) => {
    throw error instanceof RangeError ? refusal("/password", error.message) : error;
  });
  const id = newId("usr");
  const identity = { iss: service.issuer, sub: id, userId: id, mayApprove: true, linkedBy: "self" };
  await service.prisma.$transaction(async (tx) => {
    const { count } = await tx.user.createMany({
      data: [{ id, email, name, passwordHash, roles: user.roles ?? [] }],
      skipDuplicates: true,
    });
    if (count === 0) throw refusal("/email", "is taken");
    await tx.identity.create({ data: { ...identity, mac: macOfIdentity(service.secrets, identity) } });
    await appendAudit(tx, { type: "admin.user_added", actor, data: { userId: id, roles: user.roles ?? [] } });
  });
  return { userId: id, iss: identity.iss, sub: identity.sub };
}

const refusal = (pointer: string, message: string) =>
  new Problem("invalid_request", { errors: [{ pointer, message }] });

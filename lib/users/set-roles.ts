import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { findUser } from "./find";
import { type Role, rolesOf, writeRoles } from "./roles";

/**
 * Gives a user these roles in place of the ones they had: none, `auditor`, or `admin`; the two are disjoint, so that nobody audits
 * themselves. It holds from the next request on. `user` is an address or `usr_…`. Errors: `not_found`, `invalid_request` for both roles.
 */
export async function setRoles(
  service: Service,
  change: { user: string; roles: Role[] },
  actor: AuditActor,
): Promise<{ userId: string; roles: Role[]; before: Role[] }> {
  const roles = [...new Set(change.roles)];
  if (roles.length > 1)
    throw new Problem("invalid_request", {
      errors: [{ pointer: "/roles", message: "auditor and admin are disjoint: at most one" }],
    });
  const { id } = await findUser(service.prisma, change.user);
  return service.prisma.$transaction(async (tx) => {
    const stored = await tx.user.findUniqueOrThrow({ where: { id } });
    const before = rolesOf(service.secrets, stored);
    // What stands there without counting is put right as well.
    if (before.join() !== roles.join() || stored.roles.join() !== roles.join()) {
      await writeRoles(tx, service.secrets, id, roles);
      await appendAudit(tx, { type: "admin.roles_changed", actor, data: { userId: id, roles, before } });
    }
    return { userId: id, roles, before };
  });
}

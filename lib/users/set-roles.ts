import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import type { Role } from "./add";
import { findUser } from "./find";

/**
 * Gives a user these roles in place of the ones they had: none, `auditor`, or `admin`; the two are disjoint, so that nobody audits
 * themselves. It holds from the next request on. Errors: `not_found`, `invalid_request` for both roles.
 */
export async function setRoles(
  service: Service,
  change: { email: string; roles: Role[] },
  actor: AuditActor,
): Promise<{ userId: string; roles: Role[]; before: string[] }> {
  const roles = [...new Set(change.roles)];
  if (roles.length > 1)
    throw new Problem("invalid_request", {
      errors: [{ pointer: "/roles", message: "auditor and admin are disjoint: at most one" }],
    });
  const { id } = await findUser(service.prisma, change.email);
  return service.prisma.$transaction(async (tx) => {
    const { roles: before } = await tx.user.findUniqueOrThrow({ where: { id } });
    if (before.join() !== roles.join()) {
      await tx.user.update({ where: { id }, data: { roles } });
      await appendAudit(tx, { type: "admin.roles_changed", actor, data: { userId: id, roles, before } });
    }
    return { userId: id, roles, before };
  });
}

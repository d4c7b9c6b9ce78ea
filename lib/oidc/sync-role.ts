import { appendAudit } from "../audit/append";
import type { Service } from "../process";
import { rolesOf, writeRoles } from "../users/roles";
import type { ProvedIdentity } from "./claims";
import type { FoundUser } from "./find-or-add-user";
import type { ConfiguredProvider } from "./parse-providers";

/**
 * Gives or takes `auditor` by what the provider says at this sign-in, where it is configured to say it. An admin stays what an admin made
 * them. An identity that the person linked themself says nothing about roles: it serves sign-in and inbox alone.
 */
export async function syncRole(
  service: Service,
  provider: ConfiguredProvider,
  { userId, linkedBy }: FoundUser,
  { isAuditor }: ProvedIdentity,
): Promise<void> {
  if (isAuditor === undefined || linkedBy === "self_service") return;
  await service.prisma.$transaction(async (tx) => {
    // Held, so that a role which an admin gives at this moment is not overwritten.
    await tx.$queryRaw`SELECT 1 FROM "user" WHERE "id" = ${userId} FOR UPDATE`;
    const before = rolesOf(service.secrets, await tx.user.findUniqueOrThrow({ where: { id: userId } }));
    if (before.includes("admin") || before.includes("auditor") === isAuditor) return;
    const roles = isAuditor ? (["auditor"] as const) : [];
    await writeRoles(tx, service.secrets, userId, [...roles]);
    await appendAudit(tx, {
      type: "admin.roles_changed",
      actor: { kind: "service" },
      data: { userId, roles: [...roles], before, provider: provider.id },
    });
  });
}

import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { readClient } from "./cache";
import { type Policy, policySchema } from "./policy";

/**
 * Puts a new version of a client's policy in force: the members of `patch` replace those of the policy in force, within `default` too,
 * so that naming one rule does not loosen the others. Old versions are kept;
 * records name theirs. Errors: `not_found`, `invalid_request` with each member, `unavailable` where somebody else changed it meanwhile.
 */
export async function setPolicy(
  service: Service,
  clientId: string,
  patch: Record<string, unknown>,
  actor: AuditActor,
): Promise<{ version: number; policy: Policy }> {
  const client = await readClient(service.prisma, clientId);
  if (!client) throw new Problem("not_found");
  const parsed = policySchema.safeParse({ ...client.policy, ...patch, ...mergedDefault(client.policy, patch) });
  if (!parsed.success)
    throw new Problem("invalid_request", {
      errors: parsed.error.issues.map((i) => ({ pointer: `/${i.path.join("/")}`, message: i.message })),
    });
  const version = client.policyVersion + 1;
  await service.prisma.$transaction(async (tx) => {
    const { count } = await tx.client.updateMany({
      where: { id: clientId, policyVersion: client.policyVersion },
      data: { policyVersion: version },
    });
    if (count === 0)
      throw new Problem("unavailable", { detail: "The policy was changed meanwhile; look at it and try again." });
    await tx.clientPolicy.create({ data: { clientId, version, policy: parsed.data } });
    await appendAudit(tx, {
      type: "admin.policy_changed",
      clientId,
      actor,
      data: { version, members: Object.keys(patch) },
    });
  });
  return { version, policy: parsed.data };
}

/** Anything but an object is left to the schema, which refuses it. */
function mergedDefault(policy: Policy, { default: rules }: { default?: unknown }): { default?: object } {
  const isObject = typeof rules === "object" && rules !== null && !Array.isArray(rules);
  return isObject ? { default: { ...policy.default, ...rules } } : {};
}

import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { toolName } from "../clients/policy";
import { Problem } from "../problem";
import type { Service } from "../process";
import { type Scope, scopes } from "./authenticate";
import { hashOfSecret, newApiKey } from "./token";

/**
 * Makes an API key of a client; its text is returned once and kept nowhere. `scopes` default to all, `tools` to every tool that the policy
 * allows. Errors: `not_found`, `invalid_request`.
 */
export async function createKey(
  service: Service,
  key: { clientId: string; scopes?: Scope[]; tools?: string[] },
  actor: AuditActor,
): Promise<{ keyId: string; apiKey: string }> {
  const tools = key.tools ?? [];
  if (!tools.every((tool) => toolName.safeParse(tool).success))
    throw new Problem("invalid_request", { errors: [{ pointer: "/tools", message: "must be names of tools" }] });
  const granted = key.scopes?.length ? key.scopes : [...scopes];
  const { keyId, secret, apiKey } = newApiKey();
  await service.prisma.$transaction(async (tx) => {
    if (!(await tx.client.findUnique({ where: { id: key.clientId } })))
      throw new Problem("not_found", { detail: "There is no such client." });
    await tx.apiKey.create({
      data: { keyId, clientId: key.clientId, secretHash: hashOfSecret(secret), scopes: granted, tools },
    });
    await appendAudit(tx, {
      type: "admin.key_created",
      clientId: key.clientId,
      actor,
      data: { keyId, scopes: granted, tools },
    });
  });
  return { keyId, apiKey };
}

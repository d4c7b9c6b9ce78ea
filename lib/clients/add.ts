import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { newId } from "../ids/new-id";
import { Problem } from "../problem";
import type { Service } from "../process";
import { policySchema } from "./policy";

/** Registers an MCP server. `issuers` default to this service's own, `tools` to every tool. Errors: `invalid_request`. */
export async function addClient(
  service: Service,
  client: { name: string; issuers?: string[]; tools?: string[] },
  actor: AuditActor,
): Promise<{ clientId: string }> {
  const name = client.name.trim();
  if (name === "" || [...name].length > 100)
    throw new Problem("invalid_request", { errors: [{ pointer: "/name", message: "must have 1 to 100 characters" }] });
  const policy = policySchema.safeParse({
    issuers: client.issuers?.length ? client.issuers : [service.issuer],
    tools: client.tools ?? [],
  });
  if (!policy.success)
    throw new Problem("invalid_request", {
      errors: policy.error.issues.map((i) => ({ pointer: `/${i.path.join("/")}`, message: i.message })),
    });
  const id = newId("cli");
  await service.prisma.$transaction(async (tx) => {
    await tx.client.create({ data: { id, name, policyVersion: 1 } });
    await tx.clientPolicy.create({ data: { clientId: id, version: 1, policy: policy.data } });
    await appendAudit(tx, { type: "admin.client_added", clientId: id, actor, data: { name } });
  });
  return { clientId: id };
}

import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";

/**
 * Revokes an API key for ever. What changes something refuses it at once, reading within five seconds in every process. `changed` is
 * false where it was revoked before. Errors: `not_found`.
 */
export async function revokeKey(
  service: Service,
  keyId: string,
  actor: AuditActor,
): Promise<{ keyId: string; clientId: string; changed: boolean }> {
  const result = await service.prisma.$transaction(async (tx) => {
    const key = await tx.apiKey.findUnique({ where: { keyId } });
    if (!key) throw new Problem("not_found", { detail: "There is no such key." });
    const { clientId } = key;
    const { count } = await tx.apiKey.updateMany({
      where: { keyId, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 1) await appendAudit(tx, { type: "admin.key_revoked", clientId, actor, data: { keyId } });
    return { keyId, clientId, changed: count === 1 };
  });
  service.clients.forget(keyId);
  return result;
}

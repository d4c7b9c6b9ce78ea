import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { createSigningKey } from "./create";
import { macOfSigningKey, publishAheadSeconds } from "./signing-key";

/**
 * Publishes a new signing key that signs from ten minutes on, and retires keys that the one before it has replaced: their
 * private part is destroyed, their public part stays published so that old receipts verify. Safe to call twice.
 */
export async function rotateSigningKey(
  service: Service,
  actor: AuditActor,
): Promise<{ kid: string; activeFrom: Date; retired: string[] }> {
  const now = new Date();
  const activeFrom = new Date(now.getTime() + publishAheadSeconds * 1000);
  const next = await createSigningKey(service.secrets, { publishFrom: now, activeFrom });
  const retired = await service.prisma.$transaction(async (tx) => {
    const replaced = (
      await tx.signingKey.findMany({
        where: { status: "active", activeFrom: { lte: now } },
        orderBy: { activeFrom: "desc" },
      })
    ).slice(1);
    for (const row of replaced) {
      const changed = { ...row, status: "retired", privateJwe: null, retiredAt: now };
      await tx.signingKey.update({
        where: { kid: row.kid },
        data: {
          status: "retired",
          privateJwe: null,
          retiredAt: now,
          mac: new Uint8Array(macOfSigningKey(service.secrets.row, changed)),
        },
      });
    }
    await tx.signingKey.create({ data: { ...next, mac: new Uint8Array(next.mac) } });
    await appendAudit(tx, {
      type: "admin.signing_key_rotated",
      actor,
      data: { kid: next.kid, retired: replaced.map((row) => row.kid) },
    });
    return replaced.map((row) => row.kid);
  });
  await service.keys.refresh();
  return { kid: next.kid, activeFrom, retired };
}

import { appendAudit } from "../audit/append";
import type { Service } from "../process";

/** Ends a session at once, wherever its cookie still is. */
export async function endSession(
  service: Service,
  session: { sid: string; userId: string; iss: string; sub: string },
): Promise<void> {
  await service.prisma.$transaction(async (tx) => {
    const { count } = await tx.session.updateMany({
      where: { sid: session.sid, revokedAt: null },
      data: { revokedAt: new Date() },
    });
    if (count === 1)
      await appendAudit(tx, {
        type: "person.signed_out",
        actor: { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId },
      });
  });
}

import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { findUser } from "./find";
import { isAuthenticIdentity, macOfIdentity } from "./identity";

/**
 * Lets a user decide what is asked of the identity `{ iss, sub }`: an admin vouches that the two are one person (I2). `changed` is false
 * where the same link was there. Errors: `not_found`; `invalid_request` for an identity of somebody else, one of this service's own
 * issuer (a local account is itself and nobody else), and `iss` or `sub` out of bounds.
 */
export async function linkIdentity(
  service: Service,
  link: { email: string; iss: string; sub: string },
  actor: AuditActor,
): Promise<{ userId: string; iss: string; sub: string; changed: boolean }> {
  const { iss, sub } = link;
  if (iss === "" || iss.length > issMax) throw refusal("/iss", `must have 1 to ${issMax} characters`);
  if (sub === "" || sub.length > subMax) throw refusal("/sub", `must have 1 to ${subMax} characters`);
  if (iss === service.issuer)
    throw refusal("/iss", "is this service itself: a local account cannot be linked to another");
  const { id: userId } = await findUser(service.prisma, link.email);
  const row = { iss, sub, userId, mayApprove: true, linkedBy: "admin" };
  const mac = macOfIdentity(service.secrets, row);
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.identity.createMany({ data: [{ ...row, mac }], skipDuplicates: true });
    if (count === 0) {
      const stored = await tx.identity.findUniqueOrThrow({ where: { iss_sub: { iss, sub } } });
      if (stored.userId !== userId) throw refusal("/sub", "belongs to another user");
      if (stored.mayApprove && stored.linkedBy === "admin" && isAuthenticIdentity(service.secrets, stored))
        return { userId, iss, sub, changed: false };
      await tx.identity.update({ where: { iss_sub: { iss, sub } }, data: { ...row, mac } });
    }
    await appendAudit(tx, { type: "admin.identity_linked", actor, data: { userId, iss, sub } });
    return { userId, iss, sub, changed: true };
  });
}

/** Those of `caller` and `subject` in a request. */
const issMax = 2_000;
const subMax = 500;

const refusal = (pointer: string, message: string) =>
  new Problem("invalid_request", { errors: [{ pointer, message }] });

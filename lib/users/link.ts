import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { Problem } from "../problem";
import type { Service } from "../process";
import { findUser } from "./find";
import { isAuthenticIdentity, macOfIdentity } from "./identity";

/**
 * Lets a user decide what is asked of the identity `{ iss, sub }`: an admin vouches that the two are one person (I2). `user` is an e-mail
 * address or an id. A link that the person has made themself becomes one that decides. `changed` is false where the same link was there.
 * Errors: `not_found`; `invalid_request` for an identity of somebody else, one that this user signs in as anyway, one of this service's
 * own issuer (a local account is itself and nobody else), the acting admin themself, and `iss` or `sub` out of bounds.
 */
export async function linkIdentity(
  service: Service,
  link: { user: string; iss: string; sub: string },
  actor: AuditActor,
): Promise<{ userId: string; iss: string; sub: string; changed: boolean }> {
  const { iss, sub } = link;
  requireName(iss, "/iss", issMax);
  requireName(sub, "/sub", subMax);
  if (iss === service.issuer) throw new LinkRefusal("own_issuer");
  const { id: userId } = await findUser(service.prisma, link.user);
  // What a link gives is the right to decide in somebody's name: nobody gives it to themself.
  if (actor.kind === "admin" && actor.userId === userId) throw new LinkRefusal("self");
  const row = { iss, sub, userId, mayApprove: true, linkedBy: "admin" };
  const mac = macOfIdentity(service.secrets, row);
  return service.prisma.$transaction(async (tx) => {
    const { count } = await tx.identity.createMany({ data: [{ ...row, mac }], skipDuplicates: true });
    if (count === 0) {
      const stored = await tx.identity.findUniqueOrThrow({ where: { iss_sub: { iss, sub } } });
      if (stored.userId !== userId) throw new LinkRefusal("taken");
      if (stored.linkedBy === "sign_in") throw new LinkRefusal("signs_in");
      if (stored.mayApprove && stored.linkedBy === "admin" && isAuthenticIdentity(service.secrets, stored))
        return { userId, iss, sub, changed: false };
      await tx.identity.update({ where: { iss_sub: { iss, sub } }, data: { ...row, mac } });
    }
    await appendAudit(tx, { type: "admin.identity_linked", actor, data: { userId, iss, sub } });
    return { userId, iss, sub, changed: true };
  });
}

const refusals = {
  own_issuer: ["/iss", "is this service itself: a local account cannot be linked to another"],
  self: ["/user", "is the admin who acts: another admin has to do this, or the command line"],
  taken: ["/sub", "belongs to another user"],
  signs_in: ["/sub", "is who this user signs in as: there is nothing to link"],
  incomplete: ["", "must be there, in at most 2000 characters for the issuer and 500 for the subject"],
} as const satisfies Record<string, readonly [string, string]>;

/** Why an identity is not linked, as a problem `invalid_request`. */
export class LinkRefusal extends Problem {
  readonly reason: keyof typeof refusals;
  constructor(reason: keyof typeof refusals, pointer: string = refusals[reason][0]) {
    super("invalid_request", { errors: [{ pointer, message: refusals[reason][1] }] });
    this.reason = reason;
  }
}

/** Those of `caller` and `subject` in a request. */
const issMax = 2_000;
const subMax = 500;

/** PostgreSQL holds no U+0000, so no request can name one either. */
function requireName(name: string, pointer: string, max: number): void {
  if (name === "" || name.length > max || name.includes("\u0000")) throw new LinkRefusal("incomplete", pointer);
}

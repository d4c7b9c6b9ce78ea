import type { Service } from "../process";
import type { SessionClaims } from "../sessions/session";
import { isAuthenticIdentity } from "../users/identity";
import type { Subject } from "./approval";

/**
 * By what right a session may decide for a subject (I2): it is the same identity, compared as exact strings, or an admin has
 * linked the subject to this user with `mayApprove`, in a row that only a holder of the secret can have written (I17).
 */
export async function rightToDecide(
  service: Service,
  session: SessionClaims,
  subject: Subject,
): Promise<"self" | "admin_link" | undefined> {
  if (session.iss === subject.iss && session.sub === subject.sub) return "self";
  const link = await service.prisma.identity.findUnique({ where: { iss_sub: { iss: subject.iss, sub: subject.sub } } });
  const holds =
    link?.userId === session.userId &&
    link.mayApprove &&
    link.linkedBy === "admin" &&
    isAuthenticIdentity(service.secrets, link);
  return holds ? "admin_link" : undefined;
}

/** Every subject that `rightToDecide` holds for in this session. */
export async function subjectsToDecideFor(service: Service, session: SessionClaims): Promise<Subject[]> {
  const links = await service.prisma.identity.findMany({
    where: { userId: session.userId, mayApprove: true, linkedBy: "admin" },
  });
  const linked = links.filter((link) => isAuthenticIdentity(service.secrets, link));
  return [session, ...linked].map(({ iss, sub }) => ({ iss, sub }));
}

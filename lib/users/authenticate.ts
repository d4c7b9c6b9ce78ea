import type { User } from "../generated/prisma/client";
import { verifyPassword } from "../passwords/hash";
import type { Service } from "../process";

/**
 * The user of this e-mail address and password, or undefined. Unknown, disabled and wrong take the same work and give the same answer.
 * Errors: `unavailable` when too many sign in at once.
 */
export async function authenticate(service: Service, email: string, password: string): Promise<User | undefined> {
  // No address has a control character, and PostgreSQL cannot be asked for one.
  const user = /\p{Cc}/u.test(email)
    ? null
    : await service.prisma.user.findUnique({ where: { email: email.trim().toLowerCase() } });
  const isRight = await verifyPassword(user?.passwordHash, password);
  return isRight && user && user.disabledAt === null ? user : undefined;
}

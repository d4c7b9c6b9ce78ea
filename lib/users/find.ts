import type { Database } from "../database/prisma";
import type { User } from "../generated/prisma/client";
import { Problem } from "../problem";

/** The user with this e-mail address, in any case and with space around. Errors: `not_found`. */
export async function findUser(db: Pick<Database, "user">, email: string): Promise<User> {
  const user = await db.user.findUnique({ where: { email: email.trim().toLowerCase() } });
  if (!user) throw new Problem("not_found", { detail: "There is no user with this e-mail address." });
  return user;
}

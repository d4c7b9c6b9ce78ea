import type { Database } from "../database/prisma";
import type { User } from "../generated/prisma/client";
import { Problem } from "../problem";
import { handleOf } from "./email";

/**
 * The user that `ref` names: a local account by its e-mail address, in any case and with space around, or anybody by `usr_…`; those who sign
 * in at a provider have no address here. Errors: `not_found`.
 */
export async function findUser(db: Pick<Database, "user">, ref: string): Promise<User> {
  const isEmail = ref.includes("@");
  const where = isEmail ? { email: handleOf(ref) } : { id: ref.trim() };
  // PostgreSQL cannot be asked for a text with U+0000, and no user is called so.
  const found = ref.includes("\u0000") ? null : await db.user.findUnique({ where });
  if (!found)
    throw new Problem("not_found", { detail: `There is no user with this ${isEmail ? "e-mail address" : "id"}.` });
  return found;
}

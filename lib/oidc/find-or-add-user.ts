import { appendAudit } from "../audit/append";
import { newId } from "../ids/new-id";
import type { Service } from "../process";
import { isAuthenticIdentity, macOfIdentity } from "../users/identity";
import type { ProvedIdentity } from "./claims";
import type { ConfiguredProvider } from "./parse-providers";

export type FoundUser = { userId: string; linkedBy: string };

/**
 * The user of a proved identity, by `(iss, sub)` as exact strings and by nothing else: no address or name ever joins two accounts. Somebody
 * who was never here becomes a user where the provider is configured so; of sign-ins at the same moment one makes them. Undefined: unknown,
 * disabled, or an identity that was not written with the secret (I17), which are one answer.
 */
export async function findOrAddUser(
  service: Service,
  provider: ConfiguredProvider,
  proved: ProvedIdentity,
): Promise<FoundUser | undefined> {
  const { iss, sub } = proved;
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const row = await service.prisma.identity.findUnique({
      where: { iss_sub: { iss, sub } },
      include: { user: { select: { disabledAt: true } } },
    });
    if (row && !isAuthenticIdentity(service.secrets, row)) {
      service.log.error({ userId: row.userId }, "a stored identity cannot be verified; nobody signs in as it");
      return undefined;
    }
    if (row) return row.user.disabledAt === null ? { userId: row.userId, linkedBy: row.linkedBy } : undefined;
    if (!provider.createUsers) return undefined;
    const added = await addUser(service, provider, proved);
    if (added) return added;
  }
  throw new Error("the identity was there and was not");
}

async function addUser(
  service: Service,
  provider: ConfiguredProvider,
  proved: ProvedIdentity,
): Promise<FoundUser | undefined> {
  const userId = newId("usr");
  const identity = { iss: proved.iss, sub: proved.sub, userId, mayApprove: true, linkedBy: "sign_in" };
  const mac = macOfIdentity(service.secrets, identity);
  return service.prisma
    .$transaction(async (tx) => {
      await tx.user.create({ data: { id: userId, email: null, contact: proved.contact, name: proved.name } });
      const { count } = await tx.identity.createMany({ data: [{ ...identity, mac }], skipDuplicates: true });
      if (count === 0) throw new AlreadyThere();
      await appendAudit(tx, {
        type: "admin.user_added",
        actor: { kind: "service" },
        data: { userId, roles: [], provider: provider.id },
      });
      return { userId, linkedBy: identity.linkedBy };
    })
    .catch((error: unknown) => {
      if (error instanceof AlreadyThere) return undefined;
      throw error;
    });
}

class AlreadyThere extends Error {}

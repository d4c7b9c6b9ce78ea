import type { Service } from "../process";
import { type Role, rolesOf } from "./roles";

export type ListedUser = {
  userId: string;
  /** Of a local account. */
  email: string | null;
  /** What a provider calls the person's address: to be shown, never compared. */
  contact: string | null;
  name: string;
  roles: Role[];
  isDisabled: boolean;
  createdAt: Date;
  lastSignInAt: Date | null;
  identities: { iss: string; sub: string; mayApprove: boolean; linkedBy: string }[];
};

/** Everybody, in the order in which they were added. For admins alone: the caller sees to that. */
export async function listUsers(service: Service): Promise<ListedUser[]> {
  const rows = await service.prisma.user.findMany({
    include: { identities: { orderBy: [{ createdAt: "asc" }, { iss: "asc" }, { sub: "asc" }] } },
    orderBy: [{ createdAt: "asc" }, { id: "asc" }],
  });
  return rows.map(({ identities, ...row }) => ({
    userId: row.id,
    email: row.email,
    contact: row.contact,
    name: row.name,
    roles: rolesOf(service.secrets, row),
    isDisabled: row.disabledAt !== null,
    createdAt: row.createdAt,
    lastSignInAt: newest(identities.map(({ lastSignInAt }) => lastSignInAt)),
    identities: identities.map(({ iss, sub, mayApprove, linkedBy }) => ({ iss, sub, mayApprove, linkedBy })),
  }));
}

function newest(instants: (Date | null)[]): Date | null {
  const times = instants.flatMap((at) => (at ? [at.getTime()] : []));
  return times.length > 0 ? new Date(Math.max(...times)) : null;
}

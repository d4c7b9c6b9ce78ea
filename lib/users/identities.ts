import type { Service } from "../process";
import { type IdentityRow, isAuthenticIdentity } from "./identity";

/** `self`: a local account; `sign_in`: its first sign-in made the user; `admin`: may decide; `self_service`: sign-in and inbox only. */
export type LinkedBy = "self" | "sign_in" | "admin" | "self_service";

export type ListedIdentity = {
  iss: string;
  sub: string;
  /** What the row says of itself. */
  linkedBy: LinkedBy;
  /**
   * How it came to be theirs as far as this service vouches for it: `self` is the local account that the user is, and no other, whatever the
   * row says; null where nothing but a row that was not written with the secret says so (I17).
   */
  origin: LinkedBy | null;
  /** The user may decide for it in every session of theirs, not only in one of this identity (I2). */
  isAdminLink: boolean;
  /** False: the row was not written with the secret, so it gives no right (I17). */
  isAuthentic: boolean;
  /** An admin may take it away: it is a link, not who the user is. */
  isLink: boolean;
  createdAt: Date;
  lastSignInAt: Date | null;
};

/** Every identity of a user and how it came to be theirs, the oldest first. */
export async function listIdentities(service: Service, userId: string): Promise<ListedIdentity[]> {
  const rows = await service.prisma.identity.findMany({
    where: { userId },
    orderBy: [{ createdAt: "asc" }, { iss: "asc" }, { sub: "asc" }],
  });
  return rows.map((row) => {
    const isAuthentic = isAuthenticIdentity(service.secrets, row);
    const { iss, sub, createdAt, lastSignInAt } = row;
    const linkedBy = row.linkedBy as LinkedBy;
    const isAdminLink = isAuthentic && row.mayApprove && linkedBy === "admin";
    return {
      iss,
      sub,
      linkedBy,
      origin: isOwnAccount(service, row) ? "self" : isAuthentic && linkedBy !== "self" ? linkedBy : null,
      isAdminLink,
      isAuthentic,
      isLink: isLink(service, row),
      createdAt,
      lastSignInAt,
    };
  });
}

/**
 * Whether an identity is one that an admin may take away. So is what was not written with the secret (I17), whatever it says of itself: it
 * gives no right, and stands in somebody's way. Nobody loses the identity that they are: that is disabled, not unlinked.
 */
export function isLink(service: Service, row: IdentityRow): boolean {
  if (row.linkedBy === "admin" || row.linkedBy === "self_service") return true;
  return !(isOwnAccount(service, row) || isAuthenticIdentity(service.secrets, row));
}

const isOwnAccount = (service: Service, { iss, sub, userId }: IdentityRow) => iss === service.issuer && sub === userId;

import type { Service } from "../process";
import { isAuthenticIdentity } from "./identity";

/** `self`: a local account; `sign_in`: its first sign-in made the user; `admin`: may decide; `self_service`: sign-in and inbox only. */
export type LinkedBy = "self" | "sign_in" | "admin" | "self_service";

export type ListedIdentity = {
  iss: string;
  sub: string;
  linkedBy: LinkedBy;
  /** The user may decide for it in every session of theirs, not only in one of this identity (I2). */
  isAdminLink: boolean;
  /** False: the row was not written with the secret, so it gives no right (I17). */
  isAuthentic: boolean;
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
    return { iss, sub, linkedBy, isAdminLink, isAuthentic, createdAt, lastSignInAt };
  });
}

import type { Secrets } from "../secrets/derive";
import { isSameMac, mac } from "../secrets/mac";

export type IdentityRow = {
  iss: string;
  sub: string;
  userId: string;
  mayApprove: boolean;
  linkedBy: string;
  mac: Uint8Array;
};

/** Authenticates an identity link: without the secret nobody can link a person to somebody else's approvals (I17). */
export function macOfIdentity(secrets: Secrets, row: Omit<IdentityRow, "mac">): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mac(secrets.row, ["identity", row.iss, row.sub, row.userId, row.mayApprove, row.linkedBy]));
}

export function isAuthenticIdentity(secrets: Secrets, row: IdentityRow): boolean {
  return isSameMac(row.mac, macOfIdentity(secrets, row));
}

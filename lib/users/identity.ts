import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";

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
  return new Uint8Array(mac(secrets.row, partsOf(row)));
}

export function isAuthenticIdentity(secrets: Secrets, row: IdentityRow): boolean {
  return isMacOf(secrets, "row", partsOf(row), row.mac);
}

function partsOf({ iss, sub, userId, mayApprove, linkedBy }: Omit<IdentityRow, "mac">): MacParts {
  return ["identity", iss, sub, userId, mayApprove, linkedBy];
}

import type { Database } from "../database/prisma";
import type { Passkey as PasskeyRow } from "../generated/prisma/client";
import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";

/** A credential of WebAuthn (level 3). It belongs to the identity `{ iss, sub }` that registered it, of this user. */
export type Passkey = {
  /** base64url */
  credentialId: string;
  userId: string;
  iss: string;
  sub: string;
  /** COSE key (RFC 9052 section 7). */
  publicKey: Uint8Array<ArrayBuffer>;
  /** Signature counter of the last use; 0 where the authenticator keeps none. */
  counter: number;
  transports: string[];
  /** Whether it was backed up when it was registered: such a passkey is on more than one device. */
  isBackedUp: boolean;
  name: string;
  createdAt: Date;
  lastUsedAt: Date | null;
};

/** Who a passkey is read for: all three must be the row's. */
export type PasskeyOwner = Pick<Passkey, "userId" | "iss" | "sub">;

type Authenticated = Pick<
  Passkey,
  "credentialId" | "userId" | "iss" | "sub" | "publicKey" | "transports" | "isBackedUp" | "createdAt"
>;

/** The passkeys of this identity, oldest first. Rows that were not written with the secret do not count (I17). */
export function readPasskeys(db: Pick<Database, "passkey">, secrets: Secrets, of: PasskeyOwner): Promise<Passkey[]> {
  const { userId, iss, sub } = of;
  return find(db, secrets, { userId, iss, sub });
}

/** As `readPasskeys`, of all identities of a user. */
export function readPasskeysOfUser(
  db: Pick<Database, "passkey">,
  secrets: Secrets,
  userId: string,
): Promise<Passkey[]> {
  return find(db, secrets, { userId });
}

async function find(
  db: Pick<Database, "passkey">,
  secrets: Secrets,
  where: { userId: string; iss?: string; sub?: string },
): Promise<Passkey[]> {
  const rows = await db.passkey.findMany({ where, orderBy: [{ createdAt: "asc" }, { credentialId: "asc" }] });
  return rows.filter((row) => isAuthenticPasskey(secrets, row)).map(fromRow);
}

/** The passkey with this id, or undefined: there is none, or its row was not written with the secret (I17). */
export async function readPasskey(
  db: Pick<Database, "passkey">,
  secrets: Secrets,
  credentialId: string,
): Promise<Passkey | undefined> {
  if (!/^[A-Za-z0-9_-]{1,1364}$/.test(credentialId)) return undefined;
  const row = await db.passkey.findUnique({ where: { credentialId } });
  return row && isAuthenticPasskey(secrets, row) ? fromRow(row) : undefined;
}

/** Authenticates a passkey's row: without the secret nobody can put a key of their own beside a person (I17). */
export function macOfPasskey(secrets: Secrets, row: Authenticated): Uint8Array<ArrayBuffer> {
  return new Uint8Array(mac(secrets.row, partsOf(row)));
}

export function isAuthenticPasskey(secrets: Secrets, row: Authenticated & { mac: Uint8Array }): boolean {
  return isMacOf(secrets, "row", partsOf(row), row.mac);
}

/** All but the counter, the name and the last use, which change. */
function partsOf(row: Authenticated): MacParts {
  const { credentialId, userId, iss, sub, transports, isBackedUp } = row;
  const key = Buffer.from(row.publicKey).toString("base64url");
  return [
    "passkey",
    credentialId,
    userId,
    iss,
    sub,
    key,
    transports.join(" "),
    isBackedUp,
    row.createdAt.toISOString(),
  ];
}

function fromRow(row: PasskeyRow): Passkey {
  const { mac: _, counter, ...rest } = row;
  return { ...rest, counter: Number(counter) };
}

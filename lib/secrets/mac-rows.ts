import type pg from "pg";
import { isAuthenticPasskey, macOfPasskey } from "../passkeys/passkey";
import { isAuthenticService, macOfService, type ServiceRow } from "../service/issuer";
import { type IdentityRow, isAuthenticIdentity, macOfIdentity } from "../users/identity";
import { isAuthenticRoles, macOfRoles } from "../users/roles";
import type { Secrets } from "./derive";

/** A table whose rows carry a MAC under the `row` key. `Row` holds what the MAC covers, and `mac` itself. */
export type MacTable<Row extends { mac: Uint8Array }> = {
  name: string;
  /** What names a row, for people; never a secret. */
  nameOf(row: Row): string;
  /** The rows after this one in the order of the key, at most `limit`; the first ones without it. */
  page(db: Pick<pg.Pool, "query">, after: Row | undefined, limit: number): Promise<Row[]>;
  isAuthentic(secrets: Secrets, row: Row): boolean;
  macOf(secrets: Secrets, row: Row): Uint8Array;
  /** Puts a MAC in the place of the one that was read; false where somebody else has changed it since. */
  replace(db: Pick<pg.Pool, "query">, row: Row, mac: Uint8Array): Promise<boolean>;
};

export const serviceTable: MacTable<ServiceRow> = {
  name: "service",
  nameOf: ({ issuer }) => issuer,
  page: async (db, after) =>
    after ? [] : rowsOf(await db.query(`SELECT "issuer", "created_at" AS "createdAt", "mac" FROM "service"`)),
  isAuthentic: isAuthenticService,
  macOf: macOfService,
  replace: async (db, row, mac) =>
    isOne(await db.query(`UPDATE "service" SET "mac" = $2 WHERE "mac" = $1`, [row.mac, mac])),
};

export const identityTable: MacTable<IdentityRow> = {
  name: "identities",
  nameOf: ({ iss, sub }) => `${sub} at ${iss}`,
  page: async (db, after, limit) =>
    rowsOf(
      await db.query(
        `SELECT "iss", "sub", "user_id" AS "userId", "may_approve" AS "mayApprove", "linked_by" AS "linkedBy", "mac" FROM "identity"
         WHERE $1::text IS NULL OR ("iss", "sub") > ($1, $2::text) ORDER BY "iss", "sub" LIMIT $3`,
        [after?.iss ?? null, after?.sub ?? null, limit],
      ),
    ),
  isAuthentic: isAuthenticIdentity,
  macOf: macOfIdentity,
  replace: async (db, row, mac) =>
    isOne(
      await db.query(`UPDATE "identity" SET "mac" = $4 WHERE "iss" = $1 AND "sub" = $2 AND "mac" = $3`, [
        row.iss,
        row.sub,
        row.mac,
        mac,
      ]),
    ),
};

type RolesRow = { id: string; roles: string[]; mac: Uint8Array };

export const rolesTable: MacTable<RolesRow> = {
  name: "roles",
  nameOf: ({ id }) => id,
  page: async (db, after, limit) =>
    rowsOf(
      await db.query(
        `SELECT "id", "roles", "roles_mac" AS "mac" FROM "user" WHERE "roles_mac" IS NOT NULL AND ($1::text IS NULL OR "id" > $1)
         ORDER BY "id" LIMIT $2`,
        [after?.id ?? null, limit],
      ),
    ),
  isAuthentic: (secrets, { id, roles, mac }) => isAuthenticRoles(secrets, { id, roles, rolesMac: mac }),
  macOf: (secrets, { id, roles }) => macOfRoles(secrets, id, roles),
  replace: async (db, row, mac) =>
    isOne(
      await db.query(`UPDATE "user" SET "roles_mac" = $3 WHERE "id" = $1 AND "roles_mac" = $2`, [row.id, row.mac, mac]),
    ),
};

type PasskeyRow = Parameters<typeof isAuthenticPasskey>[1];

export const passkeyTable: MacTable<PasskeyRow> = {
  name: "passkeys",
  nameOf: ({ credentialId }) => credentialId,
  page: async (db, after, limit) =>
    rowsOf(
      await db.query(
        `SELECT "credential_id" AS "credentialId", "user_id" AS "userId", "iss", "sub", "public_key" AS "publicKey", "transports",
           "is_backed_up" AS "isBackedUp", "created_at" AS "createdAt", "mac" FROM "passkey"
         WHERE $1::text IS NULL OR "credential_id" > $1 ORDER BY "credential_id" LIMIT $2`,
        [after?.credentialId ?? null, limit],
      ),
    ),
  isAuthentic: isAuthenticPasskey,
  macOf: macOfPasskey,
  replace: async (db, row, mac) =>
    isOne(
      await db.query(`UPDATE "passkey" SET "mac" = $3 WHERE "credential_id" = $1 AND "mac" = $2`, [
        row.credentialId,
        row.mac,
        mac,
      ]),
    ),
};

const rowsOf = <Row>({ rows }: { rows: unknown[] }) => rows as Row[];
const isOne = ({ rowCount }: { rowCount: number | null }) => rowCount === 1;

import type pg from "pg";
import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import { announceKeys } from "../keys/announce";
import { unwrapPrivatePart, wrapPrivatePart } from "../keys/private-part";
import { isAuthenticSigningKey, macOfSigningKey, type SigningKeyRow } from "../keys/signing-key";
import { lockSigningKeys, updateSigningKey } from "../keys/store";
import type { Service } from "../process";
import { resealEndpoints } from "../webhooks/reseal";
import type { Secrets } from "./derive";
import { identityTable, type MacTable, passkeyTable, rolesTable, serviceTable } from "./mac-rows";

export type RowCount = { table: string; rewritten: number };
export type RotatedRows = {
  /** How many rows rested on the previous secret, table by table. */
  tables: RowCount[];
  rewritten: number;
  /** Rows that are of neither secret: left as they are, they do not count. */
  unverified: { table: string; name: string }[];
  /** Signing keys that were retired because their private part is of neither secret. */
  retiredKeys: string[];
};

/**
 * Writes every lasting row that rests on the previous secret anew with the current one: private parts of signing keys, secrets of webhooks, and
 * what authenticates the service, signing keys, identities, roles and passkeys (I17). Each is verified first; one that is of neither secret is left and
 * reported. Afterwards nothing lasting needs the previous secret. Safe to repeat, and while the service runs; with `isTrial` it only counts.
 */
export async function rotateRows(
  service: Service,
  actor: AuditActor,
  { isTrial = false }: { isTrial?: boolean } = {},
): Promise<RotatedRows> {
  const unverified: RotatedRows["unverified"] = [];
  const retiredKeys: string[] = [];
  const walk = <Row extends { mac: Uint8Array }>(table: MacTable<Row>) =>
    rotateTable(service.pool, service.secrets, table, isTrial, unverified);
  const tables = [
    await walk(serviceTable),
    await rotateSigningKeyRows(service, isTrial, { unverified, retiredKeys }),
    await walk(identityTable),
    await walk(rolesTable),
    await walk(passkeyTable),
    await resealWebhooks(service, isTrial, unverified),
  ];
  const rewritten = tables.reduce((sum, table) => sum + table.rewritten, 0);
  if (!isTrial) {
    const retired = retiredKeys.length > 0 ? { retired: retiredKeys } : {};
    const data = { rewritten, unverified: unverified.length, ...retired };
    await appendAudit(service.pool, { type: "admin.secret_rotated", actor, data });
    await announceKeys(service);
  }
  return { tables, rewritten, unverified, retiredKeys };
}

const pageSize = 500;

async function rotateTable<Row extends { mac: Uint8Array }>(
  db: Pick<pg.Pool, "query">,
  secrets: Secrets,
  table: MacTable<Row>,
  isTrial: boolean,
  unverified: RotatedRows["unverified"],
): Promise<RowCount> {
  const current = currentOf(secrets);
  let rewritten = 0;
  let after: Row | undefined;
  for (;;) {
    const rows = await table.page(db, after, pageSize);
    for (const row of rows) {
      if (table.isAuthentic(current, row)) continue;
      if (!table.isAuthentic(secrets, row)) unverified.push({ table: table.name, name: table.nameOf(row) });
      // What somebody has changed meanwhile was written with the current secret.
      else if (isTrial || (await table.replace(db, row, table.macOf(secrets, row)))) rewritten += 1;
    }
    after = rows.at(-1);
    if (!after) return { table: table.name, rewritten };
  }
}

async function resealWebhooks(
  { pool, secrets }: Service,
  isTrial: boolean,
  unverified: RotatedRows["unverified"],
): Promise<RowCount> {
  const resealed = await resealEndpoints(pool, secrets, isTrial);
  unverified.push(...resealed.unverified.map((name) => ({ table: "webhook endpoints", name })));
  return { table: "webhook endpoints", rewritten: resealed.rewritten };
}

async function rotateSigningKeyRows(
  { pool, secrets }: Service,
  isTrial: boolean,
  { unverified, retiredKeys }: Pick<RotatedRows, "unverified" | "retiredKeys">,
): Promise<RowCount> {
  return transact(pool, async (db) => {
    let rewritten = 0;
    for (const row of await lockSigningKeys(db)) {
      const rotated = isAuthenticSigningKey(secrets, row) ? await rewrapped(secrets, row) : undefined;
      if (!rotated) unverified.push({ table: "signing keys", name: row.kid });
      if (!rotated || rotated === row) continue;
      if (row.privateJwe !== null && rotated.privateJwe === null) retiredKeys.push(row.kid);
      if (!isTrial) await updateSigningKey(db, rotated);
      rewritten += 1;
    }
    return { table: "signing keys", rewritten };
  });
}

/**
 * The same row under the current secret; the row itself where it is that already. A private part that is of neither secret is given up,
 * and the key retired with it: what the key has signed verifies all the same.
 */
async function rewrapped(secrets: Secrets, row: SigningKeyRow): Promise<SigningKeyRow> {
  const { kid, privateJwe } = row;
  const opens = (keys: Secrets) =>
    privateJwe === null ? null : unwrapPrivatePart(keys, kid, privateJwe).catch(() => undefined);
  const current = currentOf(secrets);
  if (isAuthenticSigningKey(current, row) && (await opens(current)) !== undefined) return row;
  const plaintext = await opens(secrets);
  const kept =
    plaintext === undefined
      ? { ...row, status: row.status === "active" ? "retired" : row.status, retiredAt: row.retiredAt ?? new Date() }
      : row;
  const wrapped = plaintext ? await wrapPrivatePart(secrets, kid, plaintext) : null;
  return { ...kept, privateJwe: wrapped, mac: macOfSigningKey(secrets, kept) };
}

function currentOf({ previous: _previous, ...keys }: Secrets): Secrets {
  return keys;
}

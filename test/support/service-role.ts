import { randomBytes, randomUUID } from "node:crypto";
import pg from "pg";
import { bringUpToDate } from "@/lib/database/bring-up-to-date";
import { createDatabase } from "./database";

export type TwoRoles = { ownerUrl: string; serviceUrl: string; superuserUrl: string; role: string };

/** A database with a role beside its owner, as an operator makes one: it may sign in and nothing else until `bringUpToDate` ran. */
export async function createTwoRoles(options: { template?: string; granted?: boolean } = {}): Promise<TwoRoles> {
  const ownerUrl = await createDatabase(...(options.template === undefined ? [] : [options.template]));
  const role = `service_${randomUUID().slice(0, 8)}`;
  const password = randomBytes(24).toString("base64url");
  // The throw-away cluster has one password for its owner and its superuser.
  const superuserUrl = asRole(ownerUrl, "postgres");
  await queryAs(superuserUrl, `CREATE ROLE ${role} LOGIN PASSWORD '${password}'`);
  const serviceUrl = asRole(ownerUrl, role, password);
  if (options.granted !== false) await bringUpToDate({ url: serviceUrl, ownerUrl }, silent);
  return { ownerUrl, serviceUrl, superuserUrl, role };
}

const silent = { info: () => {}, warn: () => {} };

/** Runs statements on a connection of their own, in one simple query where there are no values. */
export async function queryAs(url: string, sql: string, values?: unknown[]): Promise<pg.QueryResult> {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  try {
    return await db.query(sql, values);
  } finally {
    await db.end();
  }
}

function asRole(url: string, role: string, password?: string): string {
  const changed = new URL(url);
  changed.username = role;
  if (password !== undefined) changed.password = password;
  return changed.href;
}

import type { Client } from "pg";
import { withSuperuser } from "./connect";
import type { ClusterRecord } from "./record";

/**
 * Creates the roles and the database where missing; safe to call at each start. `countersign` owns the database and its tables and may create
 * others, which tests need; `countersign_service`, as which the service runs, owns nothing. Neither is a superuser: an injected statement must
 * not become a command of the operating system.
 */
export async function createDatabase(
  port: number,
  { password, servicePassword }: Pick<ClusterRecord, "password" | "servicePassword">,
): Promise<void> {
  await withSuperuser(port, password, async (client) => {
    await createRole(client, "countersign", "CREATEDB", password);
    await createRole(client, "countersign_service", "", servicePassword);
    const database = await client.query("SELECT FROM pg_database WHERE datname = 'countersign'");
    if (database.rowCount === 0) await client.query("CREATE DATABASE countersign OWNER countersign");
  });
}

async function createRole(client: Client, name: string, attributes: string, password: string): Promise<void> {
  const role = await client.query("SELECT FROM pg_roles WHERE rolname = $1", [name]);
  // The record may be older than the role: one restored from a copy brings its password with it.
  const verb = role.rowCount === 0 ? "CREATE" : "ALTER";
  await client.query(`${verb} ROLE ${name} LOGIN ${attributes} PASSWORD ${client.escapeLiteral(password)}`);
}

/** The address of the service's database for one of the two roles. */
export function databaseUrl(port: number, role: "countersign" | "countersign_service", password: string): string {
  return `postgresql://${role}:${password}@127.0.0.1:${port}/countersign`;
}

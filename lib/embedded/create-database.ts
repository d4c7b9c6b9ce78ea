import { withSuperuser } from "./connect";

/**
 * Creates the role and the database `countersign` where missing; safe to call at each start. The role is no superuser: an
 * injected statement must not become a command of the operating system. It may create databases, which tests need.
 */
export async function createDatabase(port: number, password: string): Promise<void> {
  await withSuperuser(port, password, async (client) => {
    const role = await client.query("SELECT FROM pg_roles WHERE rolname = 'countersign'");
    if (role.rowCount === 0) {
      await client.query(`CREATE ROLE countersign LOGIN CREATEDB PASSWORD ${client.escapeLiteral(password)}`);
    }
    const database = await client.query("SELECT FROM pg_database WHERE datname = 'countersign'");
    if (database.rowCount === 0) await client.query("CREATE DATABASE countersign OWNER countersign");
  });
}

/** The address that the service connects to. */
export function databaseUrl(port: number, password: string): string {
  return `postgresql://countersign:${password}@127.0.0.1:${port}/countersign`;
}

import { Client } from "pg";

/**
 * Runs `work` on a connection of the superuser `postgres`, which is used for nothing else than setting up and asking
 * whether the server is ours: SCRAM proves both sides. Rejects with the server's or the system's error.
 */
export async function withSuperuser<T>(
  port: number,
  password: string,
  work: (client: Client) => Promise<T>,
): Promise<T> {
  const client = new Client({
    host: "127.0.0.1",
    port,
    user: "postgres",
    password,
    database: "postgres",
    ssl: false,
    connectionTimeoutMillis: 5000,
  });
  // A server that goes away while we talk rejects the query; the event alone would end the process.
  client.on("error", () => undefined);
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

import { randomUUID } from "node:crypto";
import pg from "pg";
import { type Check, check } from "./check";

const withinMs = 3_000;

/**
 * Whether a notification reaches a session that listens. Behind a pooler that lends connections by transaction it does not: then waits wake
 * late, and locks of a session hold nothing.
 */
export function checkNotifications(connectionString: string): Promise<Check> {
  return check("notifications", async (found) => {
    const listener = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
    const sender = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000 });
    for (const client of [listener, sender]) client.on("error", () => undefined);
    try {
      await Promise.all([listener.connect(), sender.connect()]);
      const channel = `countersign_doctor_${randomUUID().replaceAll("-", "")}`;
      const startedAt = performance.now();
      const heard = new Promise<boolean>((resolve) => {
        listener.once("notification", () => resolve(true));
        setTimeout(() => resolve(false), withinMs).unref();
      });
      await listener.query(`LISTEN ${channel}`);
      await sender.query("SELECT pg_notify($1, '')", [channel]);
      if (await heard) found.facts.push(`One arrives after ${Math.round(performance.now() - startedAt)} ms.`);
      else
        found.failures.push(
          "None arrives: DATABASE_URL must lead to PostgreSQL itself, or to a pooler that lends connections by session.",
        );
    } finally {
      await Promise.all([listener, sender].map((client) => client.end().catch(() => undefined)));
    }
  });
}

import { serve } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";

/**
 * The baseline: what the same machine can do at best with the same parts. Hono and one INSERT of a row of the same size over `pg`,
 * without checks, signature, audit or limits. Prints its port.
 */
const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });
await pool.query(
  `CREATE TABLE IF NOT EXISTS "bare" ("id" text PRIMARY KEY, "sub" text NOT NULL, "body" text NOT NULL, "created_at" timestamptz NOT NULL DEFAULT now())`,
);
const app = new Hono();
app.post("/", async (c) => {
  const text = await c.req.text();
  const { caller } = JSON.parse(text) as { caller: { sub: string } };
  const id = crypto.randomUUID();
  await pool.query({
    name: "bare",
    text: `INSERT INTO "bare" ("id", "sub", "body") VALUES ($1, $2, $3)`,
    values: [id, caller.sub, text + text],
  });
  return c.json({ id }, 201);
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => process.stdout.write(`${port}\n`));

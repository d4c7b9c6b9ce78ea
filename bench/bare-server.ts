import { serve } from "@hono/node-server";
import { Hono } from "hono";
import pg from "pg";

/**
 * The baseline: what this machine does at best with the same parts. Hono, and one statement over `pg` on a row of the same size, without
 * credentials, checks, signature, audit or limits. Says on one line where it listens.
 */
const pool = new pg.Pool({ connectionString: process.env["DATABASE_URL"], max: 10 });
await pool.query(
  `CREATE TABLE IF NOT EXISTS "bare" ("id" text PRIMARY KEY, "sub" text NOT NULL, "body" text NOT NULL, "created_at" timestamptz NOT NULL DEFAULT now(),
    "decision" text, "consumed_at" timestamptz)`,
);
const parked = new Map<string, () => void>();
const app = new Hono();

app.post("/", async (c) => {
  const text = await c.req.text();
  const { caller } = JSON.parse(text) as { caller: { sub: string } };
  const id = crypto.randomUUID();
  await pool.query({
    name: "insert",
    text: `INSERT INTO "bare" ("id", "sub", "body") VALUES ($1, $2, $3)`,
    // Three times: as long as a signed record of this body.
    values: [id, caller.sub, text + text + text],
  });
  return c.json({ id }, 201);
});

app.get("/:id", async (c) => c.json(await read(c.req.param("id"))));

app.get("/:id/wait", async (c) => {
  const id = c.req.param("id");
  await new Promise<void>((resolve) => parked.set(id, resolve));
  return c.json(await read(id));
});

app.post("/:id/decision", async (c) => {
  const id = c.req.param("id");
  await c.req.text();
  await pool.query({
    name: "decide",
    text: `UPDATE "bare" SET "decision" = 'accept' WHERE "id" = $1 AND "decision" IS NULL`,
    values: [id],
  });
  parked.get(id)?.();
  parked.delete(id);
  return c.redirect(`/${id}`, 303);
});

app.post("/:id/consume", async (c) => {
  JSON.parse(await c.req.text());
  const { rowCount } = await pool.query({
    name: "consume",
    text: `UPDATE "bare" SET "consumed_at" = clock_timestamp() WHERE "id" = $1 AND "consumed_at" IS NULL`,
    values: [c.req.param("id")],
  });
  return c.json({ granted: rowCount === 1 }, rowCount === 1 ? 200 : 409);
});

async function read(id: string): Promise<{ id: string; sub: string; decision: string | null } | null> {
  const { rows } = await pool.query<{ id: string; sub: string; decision: string | null }>({
    name: "read",
    text: `SELECT "id", "sub", "decision" FROM "bare" WHERE "id" = $1`,
    values: [id],
  });
  return rows[0] ?? null;
}

serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, pids: [process.pid] })}\n`),
);

import { serve } from "@hono/node-server";
import { Hono } from "hono";

/** What a library offers for "create something durable that waits for a human". */
export type Waiting = {
  /** Resolves with its id once it is durable. */
  create(body: string): Promise<string>;
  /** What the click does. Resolves once the decision is durable. */
  decide(id: string): Promise<void>;
  /** Resolves with the decision, for a caller who waits. */
  wait(id: string): Promise<string>;
};

/** The thinnest fair front for a library: the routes, the framework and the address of `bench/bare-server.ts`. */
export function serveFront(waiting: Waiting): void {
  const app = new Hono();
  app.post("/", async (c) => c.json({ id: await waiting.create(await c.req.text()) }, 201));
  app.get("/:id/wait", async (c) => c.json({ decision: await waiting.wait(c.req.param("id")) }));
  app.post("/:id/decision", async (c) => {
    const id = c.req.param("id");
    await c.req.text();
    await waiting.decide(id);
    return c.redirect(`/${id}`, 303);
  });
  serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
    announce(`http://127.0.0.1:${port}`, [process.pid]),
  );
}

/** Says on one line where it listens, and the processes whose time counts. */
export function announce(url: string, pids: number[]): void {
  process.stdout.write(`${JSON.stringify({ url, pids })}\n`);
}

/** A setting that the bench hands over. */
export function setting(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

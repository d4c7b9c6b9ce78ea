import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { startEmbedded } from "@/lib/embedded/start";
import { migrate } from "@/prisma/migrate";

declare module "vitest" {
  interface ProvidedContext {
    clusterUrl: string;
  }
}

export const templateName = "countersign_template";

/** Starts a throw-away PostgreSQL for this run and migrates the template that each test's database is copied from. */
export default async function startCluster(project: TestProject): Promise<() => Promise<void>> {
  const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-test-"));
  const quiet = { info: () => {}, warn: () => {} };
  const database = await startEmbedded({ dataDir, log: quiet });
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${templateName}`);
  await admin.query("ALTER SYSTEM SET max_connections = 300");
  await admin.end();
  const template = new pg.Client({ connectionString: withDatabase(database.url, templateName) });
  await template.connect();
  await migrate(template);
  await template.end();
  project.provide("clusterUrl", database.url);
  return async () => {
    await database.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

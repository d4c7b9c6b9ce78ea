import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { removeEmbedded } from "@/lib/embedded/remove";
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
  const database = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
  const remove = async () => {
    await database.stop();
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  };
  try {
    await makeTemplate(database.url);
  } catch (error) {
    await remove();
    throw error;
  }
  project.provide("clusterUrl", database.url);
  return remove;
}

/** No connection stays open on it: PostgreSQL copies only databases that nobody uses. */
async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${templateName}`);
  await admin.end();
  const template = new pg.Client({ connectionString: withDatabase(url, templateName) });
  await template.connect();
  await migrate(template);
  await template.end();
}

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

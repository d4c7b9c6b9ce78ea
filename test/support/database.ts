import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import pg from "pg";
import { pino } from "pino";
import { inject } from "vitest";
import { type Config, parseConfig } from "@/lib/config";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { templateName, withDatabase } from "./cluster";

export type TestService = { service: Service; databaseUrl: string; stop(): Promise<void> };

let count = 0;

/**
 * A whole service on a database of its own, copied from the migrated template; with `databaseUrl` and `secret` a second one beside
 * the first. It logs at every level to `test-output/logs`, where the last test of the run looks for secrets.
 */
export async function createTestService(overrides: Partial<Config> = {}): Promise<TestService> {
  const databaseUrl = overrides.databaseUrl ?? (await createDatabase());
  const config: Config = {
    ...parseConfig({ COUNTERSIGN_URL: "http://localhost:3000" }),
    secret: new Uint8Array(randomBytes(32)),
    logLevel: "trace",
    ...overrides,
    databaseUrl,
  };
  const { service, stop } = await startService(config, { migrate: false, listen: true, log: fileLogger() });
  return { service, databaseUrl, stop };
}

/** An empty, migrated database. Copying a template takes tens of milliseconds. */
export async function createDatabase(template: string = templateName): Promise<string> {
  count += 1;
  const name = `test_${process.env["VITEST_WORKER_ID"] ?? "0"}_${process.pid}_${count}`;
  const url = inject("clusterUrl");
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(template === "" ? `CREATE DATABASE ${name}` : `CREATE DATABASE ${name} TEMPLATE ${template}`);
  await admin.end();
  return withDatabase(url, name);
}

export const logsDir = "test-output/logs";

function fileLogger() {
  mkdirSync(logsDir, { recursive: true });
  return pino(
    { level: "trace", base: null },
    pino.destination({ dest: `${logsDir}/${process.pid}-${count}.log`, sync: true }),
  );
}

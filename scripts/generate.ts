import { spawnSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import path from "node:path";

const root = path.resolve(import.meta.dirname, "..");

/** Generates the Prisma client where it is missing or older than the schema. Takes about a second; needs no network. */
export function ensureGenerated(): void {
  const client = path.join(root, "lib/generated/prisma/client.ts");
  const schema = path.join(root, "prisma/schema.prisma");
  if (existsSync(client) && statSync(client).mtimeMs >= statSync(schema).mtimeMs) return;
  const result = spawnSync(process.execPath, [path.join(root, "node_modules/prisma/build/index.js"), "generate"], {
    cwd: root,
    encoding: "utf8",
    // Prisma would download its schema engine, which generating does not use: any existing file satisfies it (decision 0004).
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: "1",
      CHECKPOINT_DISABLE: "1",
    },
  });
  if (result.status !== 0) throw new Error(`prisma generate failed:\n${result.stdout}${result.stderr}`);
}

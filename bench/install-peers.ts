import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";

const folder = path.join(import.meta.dirname, "peers");
const lockfile = path.join(folder, "package-lock.json");
const installedFrom = path.join(folder, "node_modules/.installed-from");

/**
 * Installs what Countersign is measured against from its own lockfile, unless that is done: users of the product, and the other figures,
 * need none of it. No install script is run, so that nothing is fetched but what the lockfile names.
 * @throws Error with npm's own words where it fails: then nothing has been measured
 */
export async function installPeers(): Promise<void> {
  const lock = createHash("sha256")
    .update(await readFile(lockfile))
    .digest("hex");
  if ((await readFile(installedFrom, "utf8").catch(() => "")) === lock) return;
  // `npm run bench` tells its children to work at the root of the project.
  const { npm_config_local_prefix: _root, ...env } = process.env;
  const args = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr, error } = spawnSync("npm", args, { cwd: folder, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm ci in bench/peers failed: ${(error?.message ?? stderr).trim().slice(0, 300)}`);
  await writeFile(installedFrom, lock);
}

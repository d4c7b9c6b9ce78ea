import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import path from "node:path";

const debianRoot = "/usr/lib/postgresql";
const oldest = 15;

/**
 * The folder of a PostgreSQL's own programs (initdb, postgres, pg_dump, pg_restore): `PG_BIN`, else the oldest that is installed and not older
 * than what we need; undefined where there is none. Tests of backup and of the oldest supported version use it.
 */
export function findPostgresTools(): string | undefined {
  const named = process.env["PG_BIN"];
  if (named) return existsSync(path.join(named, "initdb")) ? named : undefined;
  if (!existsSync(debianRoot)) return undefined;
  return readdirSync(debianRoot)
    .filter((version) => Number(version) >= oldest)
    .sort((a, b) => Number(a) - Number(b))
    .map((version) => path.join(debianRoot, version, "bin"))
    .find((folder) =>
      ["initdb", "postgres", "pg_dump", "pg_restore"].every((name) => existsSync(path.join(folder, name))),
    );
}

/** As `findPostgresTools`; on Debian and its kin, and as root, they are installed where missing. Throws an error that names what to install. */
export function ensurePostgresTools(): string {
  if (!findPostgresTools() && process.getuid?.() === 0 && existsSync("/usr/bin/apt-get")) install();
  const found = findPostgresTools();
  if (!found)
    throw new Error(
      `No PostgreSQL ${oldest} or later was found. Install one (Debian: apt-get install postgresql) or set PG_BIN to the folder of its programs.`,
    );
  return found;
}

function install(): void {
  process.stderr.write("Installing postgresql with apt-get\n");
  const options = { stdio: ["ignore", "ignore", "inherit"] as ("ignore" | "inherit")[] };
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  execFileSync("apt-get", ["update", "-qq"], { ...options, env });
  execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "postgresql"], { ...options, env });
}

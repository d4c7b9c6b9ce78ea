import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import pg from "pg";
import { ensurePostgresTools } from "@/scripts/postgres-tools";
import { freePorts } from "./free-port";

export type OwnPostgres = {
  /** As the superuser `postgres`, to the database `postgres`. */
  superuserUrl: string;
  /** The folder of its programs, for `PATH`. */
  bin: string;
  /** The address of another role and database of it. */
  urlFor(role: string, password: string, database: string): string;
  stop(): Promise<void>;
};

// As an operator's, and not the embedded one: root may not run it.
const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

/** A PostgreSQL from the system's package, the oldest version that is installed and supported, with a new cluster on loopback. */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const bin = ensurePostgresTools();
  const folder = mkdtempSync(path.join(tmpdir(), "countersign-pg-"));
  const password = randomBytes(24).toString("base64url");
  const passwordFile = path.join(folder, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (account) for (const each of [folder, passwordFile]) chownSync(each, account.uid, account.gid);
  const data = path.join(folder, "data");
  const environment = { PATH: `${bin}:/usr/bin:/bin`, LC_ALL: "C", NODE_ENV: "production" as const };
  execFileSync(
    path.join(bin, "initdb"),
    ["-D", data, "-U", "postgres", `--pwfile=${passwordFile}`, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C"],
    { ...account, env: environment, cwd: "/", stdio: "pipe" },
  );
  const [port = 0] = await freePorts(1);
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories="].flatMap((each) => ["-c", each]);
  const child = spawn(path.join(bin, "postgres"), ["-D", data, "-p", String(port), ...settings], {
    ...account,
    env: environment,
    cwd: "/",
    stdio: "ignore",
  });
  const urlFor = (role: string, secret: string, database: string) =>
    `postgresql://${role}:${secret}@127.0.0.1:${port}/${database}`;
  const superuserUrl = urlFor("postgres", password, "postgres");
  await untilAnswering(superuserUrl, child);
  return {
    superuserUrl,
    bin,
    urlFor,
    stop: async () => {
      const exit = once(child, "exit");
      child.kill("SIGINT");
      await exit;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilAnswering(url: string, child: ChildProcess): Promise<void> {
  const endsAt = Date.now() + 60_000;
  while (Date.now() < endsAt && child.exitCode === null) {
    const db = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
    db.on("error", () => undefined);
    const isUp = await db.connect().then(
      () => true,
      () => false,
    );
    await db.end().catch(() => undefined);
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`PostgreSQL did not start (exit code ${child.exitCode})`);
}

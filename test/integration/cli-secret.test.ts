import { randomBytes } from "node:crypto";
import { link, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { parseConfig } from "@/lib/config";
import { removeEmbedded } from "@/lib/embedded/remove";
import { loadSecrets } from "@/lib/secrets/load";
import { rotateSecretFile } from "@/lib/secrets/rotate-file";
import { startService } from "@/lib/service/start";
import { password } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService } from "../support/database";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const day = 24 * 3_600_000;

describe("the secret of a data folder", () => {
  let dataDir: string;
  let cli: CommandLine;
  let environment: Record<string, string>;
  const files = () => ["secret", "secret.previous"].map((name) => path.join(dataDir, name));
  const read = (file = "") => readFile(file, "utf8");

  beforeAll(async () => {
    dataDir = await mkdtemp(path.join(tmpdir(), "countersign-secret-"));
    environment = { COUNTERSIGN_DATA_DIR: dataDir, COUNTERSIGN_URL: "http://localhost:3918" };
    cli = commandLine(environment);
    await cli.ask(["users", "add", "--email", "ada@example.com", "--name", "Ada", "--roles", "admin"], `${password}\n`);
  });
  afterAll(async () => {
    await removeEmbedded(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });

  it("is replaced, the old one kept beside it, readable by its owner alone, and every row is of the new one", async () => {
    const before = await read(files()[0]);
    const rotated = await cli.ask<{ rewritten: number; unverified: unknown[]; tables: object[] }>(["secret", "rotate"]);
    expect(rotated).toMatchObject({ rewritten: 4, unverified: [] });
    const [current = "", previous = ""] = await Promise.all(files().map(read));
    expect([previous, current === before, current.length]).toEqual([before, false, 64]);
    if (process.platform !== "win32") for (const file of files()) expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await readdir(dataDir)).filter((name) => name.startsWith("secret.") && name !== "secret.previous")).toEqual(
      [],
    );
    expect(await cli.ask(["users", "roles", "ada@example.com"])).toMatchObject({ roles: ["admin"] });
    expect(cli.complaints()).not.toContain(current);
  });

  it("is not replaced a second time before the first rotation is ended, nor while the service runs", async () => {
    const before = await Promise.all(files().map(read));
    expect(await cli.fail(["secret", "rotate"])).toMatchObject({ code: 1, error: { code: "rotation_under_way" } });
    const log = pino({ level: "silent" });
    const { stop } = await startService(parseConfig(environment), { log });
    expect(await cli.fail(["secret", "rotate"])).toMatchObject({ code: 1, error: { code: "in_use" } });
    await stop();
    expect(await Promise.all(files().map(read))).toEqual(before);
  });

  it("loses the old one only after a day, or when told so, and never while a row rests on it", async () => {
    const [current = "", previous = ""] = files();
    const [now, before] = await Promise.all([read(current), read(previous)]);
    const early = await cli.fail(["secret", "drop-previous"]);
    expect(early).toMatchObject({ error: { code: "too_early", message: expect.stringContaining("--now") } });
    await utimes(current, new Date(), new Date(Date.now() - day - 60_000));
    // As if the rows had not been rotated: the two secrets have changed places.
    await Promise.all([writeFile(current, before), writeFile(previous, now)]);
    await utimes(current, new Date(), new Date(Date.now() - day - 60_000));
    expect(await cli.fail(["secret", "drop-previous"])).toMatchObject({
      error: {
        code: "rows_left",
        message:
          "Rows rest on it: 1 of service, 1 of signing keys, 1 of identities, 1 of roles. Run `secret rotate-rows` first.",
      },
    });
    expect(await cli.ask(["secret", "rotate-rows"])).toMatchObject({ rewritten: 4 });
    expect(await cli.ask(["secret", "drop-previous"])).toEqual({ dropped: true });
    await expect(read(previous)).rejects.toThrow(/ENOENT/);
    expect(await cli.ask(["users", "roles", "ada@example.com"])).toMatchObject({ roles: ["admin"] });
    expect(await cli.fail(["secret", "drop-previous"])).toMatchObject({ error: { code: "no_previous_secret" } });
    expect(await cli.fail(["secret", "rotate-rows"])).toMatchObject({ error: { code: "no_previous_secret" } });
  });
});

describe("a rotation of the file that was cut short", () => {
  it("leaves one secret in both places, which counts as one, and is taken up again", async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-cut-"));
    const config = { ...parseConfig({}), dataDir };
    await expect(rotateSecretFile(dataDir)).rejects.toThrow(/nothing was started/);
    const before = await loadSecrets(config);
    const [current, previous] = [path.join(dataDir, "secret"), path.join(dataDir, "secret.previous")];
    await link(current, previous);
    expect(await loadSecrets(config)).toEqual(before);
    expect(await rotateSecretFile(dataDir)).toBe(true);
    const after = await loadSecrets(config);
    expect(after.previous).toEqual(before);
    expect(after.row).not.toEqual(before.row);
    expect(await rotateSecretFile(dataDir)).toBe(false);
    expect(await loadSecrets(config)).toEqual(after);
    await rm(dataDir, { recursive: true });
  });
});

describe("the secret from the environment", () => {
  it("is rotated by setting both: rotate-rows does the rest, says what it did, and what it had to leave", async () => {
    const [secretA, secretB] = [randomBytes(32), randomBytes(32)];
    const old = await createTestService({ secret: new Uint8Array(secretA) });
    const { databaseUrl } = old;
    const run = commandLine({ DATABASE_URL: databaseUrl, COUNTERSIGN_URL: old.service.config.url });
    const withSecrets = (current: Buffer, previous?: Buffer) => ({
      COUNTERSIGN_SECRET: current.toString("hex"),
      ...(previous ? { COUNTERSIGN_SECRET_PREVIOUS: previous.toString("hex") } : {}),
    });
    const json = async (args: string[], env: Record<string, string>) => {
      const { code, stdout, stderr } = await run.run([...args, "--json"], "", env);
      const { error, ...result } = JSON.parse(stdout || stderr) as { error?: { code: string; message: string } };
      return { code, error: error?.code, ...result };
    };
    const onlyNew = withSecrets(secretB);
    const both = withSecrets(secretB, secretA);
    const [rotate, drop, none, early] = await Promise.all([
      json(["secret", "rotate"], both),
      json(["secret", "drop-previous"], both),
      json(["secret", "rotate-rows"], withSecrets(secretA)),
      json(["keys", "list-signing"], onlyNew),
    ]);
    expect([rotate.error, drop.error]).toEqual(["secret_from_environment", "secret_from_environment"]);
    expect([none.error, early.code]).toEqual(["no_previous_secret", 1]);

    const { kid } = old.service.keys.signer();
    expect(await json(["secret", "rotate-rows"], both)).toMatchObject({ code: 0, rewritten: 2, unverified: [] });
    expect(await json(["keys", "list-signing"], onlyNew)).toMatchObject({
      code: 0,
      signingKeys: [{ kid, status: "active" }],
    });

    await old.service.pool.query(
      `INSERT INTO "user" ("id", "name", "roles", "roles_mac") VALUES ('usr_forged', 'Eve', '{admin}', 'x')`,
    );
    await old.service.pool.query(`UPDATE "signing_key" SET "private_jwe" = 'spoilt'`);
    const words = await run.run(["secret", "rotate-rows"], "", both);
    expect(words.code).toBe(1);
    expect(words.stdout).toContain("NOT rewritten, of neither secret, so it does not count: roles, usr_forged");
    expect(words.stdout).toContain(`RETIRED, for its private part is of neither secret: signing key ${kid}`);
    expect(words.stdout).toContain("Keep the previous secret for a day");
    await old.stop();
  });
});

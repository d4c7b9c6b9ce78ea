import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import { loadSecrets } from "@/lib/secrets/load";
import { dropPreviousFile, rotatedAt, rotateSecretFile } from "@/lib/secrets/rotate-file";

let dataDir: string;
const read = (name: string) => readFile(path.join(dataDir, name), "utf8");
const load = () => loadSecrets({ ...parseConfig({}), dataDir });
const names = async () => (await readdir(dataDir)).filter((name) => name.startsWith("secret")).toSorted();

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(tmpdir(), "countersign-rotate-"));
});
afterEach(() => rm(dataDir, { recursive: true }));

describe("the secret file of a new data folder", () => {
  it("is made once by however many start at once, and no draft of it is left", async () => {
    const loaded = await Promise.all(Array.from({ length: 8 }, load));
    for (const secrets of loaded) expect(secrets).toEqual(loaded[0]);
    expect(await names()).toEqual(["secret"]);
  });
});

describe("several rotations of one secret file at once", () => {
  it("lose no secret: one of them rotates, the others say that one is under way, and the one before is kept", async () => {
    for (let round = 0; round < 5; round += 1) {
      await load();
      const before = await read("secret");
      const rotations = await Promise.all(
        Array.from({ length: 6 }, async () => ((await rotateSecretFile(dataDir)) ? await read("secret") : undefined)),
      );
      const made = rotations.filter((secret) => secret !== undefined);
      expect([made, await read("secret.previous")]).toEqual([[await read("secret")], before]);
      expect(await names()).toEqual(["secret", "secret.previous"]);
      await dropPreviousFile(dataDir, (await rotatedAt(dataDir)) ?? new Date(0));
    }
  });

  it("leave no draft behind, not even of one that was killed over it", async () => {
    await load();
    const dead = spawnSync(process.execPath, ["-e", ""]).pid;
    await writeFile(path.join(dataDir, `secret.${dead}-0123456789ab`), "half");
    expect(await rotateSecretFile(dataDir)).toBe(true);
    expect(await names()).toEqual(["secret", "secret.previous"]);
  });
});

describe("deleting the previous secret", () => {
  it("deletes none but that of the rotation that was looked at: another may have ended meanwhile, and the next begun", async () => {
    await load();
    await rotateSecretFile(dataDir);
    const first = (await rotatedAt(dataDir)) ?? new Date(0);
    expect(await dropPreviousFile(dataDir, new Date(first.getTime() - 1))).toBe(false);
    expect(await names()).toEqual(["secret", "secret.previous"]);
    expect(await dropPreviousFile(dataDir, first)).toBe(true);
    expect(await dropPreviousFile(dataDir, first)).toBe(false);
    expect(await names()).toEqual(["secret"]);
  });
});

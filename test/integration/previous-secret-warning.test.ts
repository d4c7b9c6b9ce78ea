import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { type Config, parseConfig } from "@/lib/config";
import { loadSecrets } from "@/lib/secrets/load";
import { dropPreviousFile, rotatedAt, rotateSecretFile } from "@/lib/secrets/rotate-file";
import { rotateRows } from "@/lib/secrets/rotate-rows";
import { startService } from "@/lib/service/start";
import { createDatabase } from "@/test/support/database";

type Line = { level: number; msg: string; since?: string };

/** Starts a service as `npm start` does and gives back what it warned of. */
async function warningsOf(config: Config, { rotates = false } = {}): Promise<Line[]> {
  const lines: Line[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      lines.push(JSON.parse(String(chunk)) as Line);
      done();
    },
  });
  const { service, stop } = await startService(config, { listen: true, log: pino({ level: "warn" }, sink) });
  if (rotates) await rotateRows(service, { kind: "admin", via: "cli" });
  await stop();
  return lines.filter(({ msg }) => msg.includes("previous secret"));
}

describe("a start while a previous secret is kept", () => {
  it("warns that it is accepted, since when where it lies in the data folder, and how that ends; without one it does not", async () => {
    const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-warning-"));
    const config = { ...parseConfig({}), dataDir, databaseUrl: await createDatabase() };
    await loadSecrets(config);
    expect(await warningsOf(config)).toEqual([]);
    await rotateSecretFile(dataDir);
    const since = (await rotatedAt(dataDir)) ?? new Date(0);
    const [line, ...more] = await warningsOf(config, { rotates: true });
    expect([line?.level, line?.since, more]).toEqual([40, since.toISOString(), []]);
    expect(line?.msg).toContain("`countersign secret drop-previous`");
    await dropPreviousFile(dataDir, since);
    expect(await warningsOf(config)).toEqual([]);
    await rm(dataDir, { recursive: true });
  });

  it("names the variable to take away where the secrets come from the environment", async () => {
    const [secret, previousSecret] = [new Uint8Array(randomBytes(32)), new Uint8Array(randomBytes(32))];
    const config = { ...parseConfig({}), secret, databaseUrl: await createDatabase() };
    expect(await warningsOf(config)).toEqual([]);
    const [line] = await warningsOf({ ...config, previousSecret });
    expect([line?.since, line?.msg]).toEqual([undefined, expect.stringContaining("COUNTERSIGN_SECRET_PREVIOUS")]);
  });
});

import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Check } from "@/lib/doctor/check";
import { type CommandLine, commandLine } from "@/test/support/command-line";
import { createTestService, type TestService } from "@/test/support/database";
import { type Front, startFront } from "@/test/support/doctor-stage";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let t: TestService;
let front: Front;
let environment: Record<string, string>;
let cli: CommandLine;

beforeAll(async () => {
  const secret = randomBytes(32);
  t = await createTestService({ secret });
  front = await startFront(t.service);
  environment = {
    DATABASE_URL: t.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: t.service.config.url,
  };
  cli = commandLine(environment);
});
afterAll(async () => {
  await front.stop();
  await t.stop();
});

describe("countersign doctor", () => {
  it("prints a line a check, says first what it writes, and exits with 0 where nothing failed", async () => {
    const { code, stdout, stderr } = await cli.run(["doctor", "--url", front.url]);
    expect([code, stderr]).toEqual([0, ""]);
    const [first, ...lines] = stdout.trimEnd().split("\n");
    expect(first).toContain("--read-only leaves that out");
    expect(lines.length).toBeGreaterThan(12);
    for (const line of lines) expect(line).toMatch(/^(ok {6}|warning )[a-z' ]+: [A-Z0-9].*\.$|^ok {6}keys: /);
    expect(stdout).toContain("ok      consume race: Of 20 attempts at once one was granted.");
    expect(stdout).toContain("warning history: The role countersign could take the triggers off");
  });

  it("--json gives the same checks; one that FAILED makes the exit code 1, and the others are made", async () => {
    const wrong = { COUNTERSIGN_SECRET: randomBytes(32).toString("hex") };
    const { code, stdout } = await cli.run(["doctor", "--json", "--url", front.url], "", wrong);
    const { checks } = JSON.parse(stdout) as { checks: Check[] };
    expect(code).toBe(1);
    expect(checks.filter(({ status }) => status === "failed").map(({ name }) => name)).toEqual(["secret"]);
    expect(checks.map(({ name }) => name)).toContain("proxy headers");
    const faulty = await cli.run(["doctor"], "", { PORT: "nowhere" });
    expect(faulty.code).toBe(1);
    expect(faulty.stdout).toMatch(/^FAILED {2}settings: PORT: /m);
  });

  it("--read-only leaves out what writes, and says nothing of writing", async () => {
    const { checks } = await cli.ask<{ checks: Check[] }>(["doctor", "--read-only", "--url", front.url]);
    expect(checks.map(({ name }) => name)).not.toContain("scratch approval");
    const { stdout } = await cli.run(["doctor", "--read-only", "--url", front.url]);
    expect(stdout).not.toContain("Writes");
  });

  it("is called wrongly with an address that is none", async () => {
    expect(await cli.fail(["doctor", "--url", "approve.example.com"])).toMatchObject({ error: { code: "bad_url" } });
  });

  it("interrupted in the middle it takes away what it has made before it ends", async () => {
    const launcher = path.resolve(import.meta.dirname, "../../cli/countersign.mjs");
    const child = spawn(process.execPath, [launcher, "doctor", "--url", front.url], {
      env: { PATH: process.env["PATH"], NODE_ENV: "production", ...environment },
      stdio: "ignore",
    });
    const ended = once(child, "exit");
    const keys = () => t.service.prisma.apiKey.count();
    await expect.poll(keys, { timeout: 60_000, interval: 20 }).toBe(1);
    child.kill("SIGINT");
    expect(await ended).toEqual([1, null]);
    expect(await keys()).toBe(0);
    expect(await t.service.prisma.user.count()).toBe(0);
    expect(await t.service.prisma.client.count({ where: { disabledAt: null } })).toBe(0);
    expect(await t.service.prisma.approval.count({ where: { settledAt: null } })).toBe(0);
  });
});

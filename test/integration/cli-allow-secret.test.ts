import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addClient } from "@/lib/clients/add";
import type { Service } from "@/lib/process";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService } from "../support/database";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let cli: CommandLine;
let service: Service;
let stop: () => Promise<void>;

beforeAll(async () => {
  const secret = randomBytes(32);
  const started = await createTestService({ secret });
  ({ service, stop } = started);
  cli = commandLine({
    DATABASE_URL: started.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: service.config.url,
  });
});
afterAll(() => stop());

describe("clients policy --allow-secret", () => {
  it("puts a version in force that allows the kinds named and no more, beside what a file sets, and takes them back", async () => {
    const { clientId } = await addClient(service, { name: "Keys" }, { kind: "admin", via: "cli" });
    const policy = (...options: string[]) => ["clients", "policy", clientId, ...options];
    expect(
      await cli.ask(policy("--allow-secret", "token", "api_key", "--set", "-"), `{ "maxPendingPerSubject": 2 }`),
    ).toMatchObject({ version: 2, policy: { allowedSecretKinds: ["token", "api_key"], maxPendingPerSubject: 2 } });
    const unknown = await cli.fail(policy("--allow-secret", "password"));
    expect(unknown).toMatchObject({ code: 1, error: { code: "invalid_request" } });
    expect(unknown.error.message).toContain("allowedSecretKinds");
    expect(await cli.ask(policy("--allow-secret", "none"))).toMatchObject({
      version: 3,
      policy: { allowedSecretKinds: [], maxPendingPerSubject: 2 },
    });
  });
});

import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { addClient } from "@/lib/clients/add";
import type { Service } from "@/lib/process";
import { addPerson, addTestClient, apiFor, mintApproval, mintBody } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService } from "../support/database";

const actor = { kind: "admin", via: "cli" } as const;
const foreign = "https://login.example.com";

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

describe("clients and keys", () => {
  it("registers a client with issuers and tools, and changes its policy member by member", async () => {
    const { clientId } = await cli.ask<{ clientId: string }>(
      `clients add --name CRM --issuer ${foreign} --issuer ${service.issuer} --tool delete_project send_mail`.split(
        " ",
      ),
    );
    const before = await cli.ask<{ version: number; policy: object }>(["clients", "policy", clientId]);
    expect(before).toMatchObject({
      version: 1,
      policy: { issuers: [foreign, service.issuer], tools: ["delete_project", "send_mail"] },
    });
    const changed = await cli.ask(["clients", "policy", clientId, "--set", "-"], `{ "maxPendingPerSubject": 2 }`);
    expect(changed).toEqual({ clientId, version: 2, policy: { ...before.policy, maxPendingPerSubject: 2 } });
    const dir = await mkdtemp(path.join(tmpdir(), "countersign-policy-"));
    const file = path.join(dir, "policy.json");
    await writeFile(file, `{ "maxPendingPerSubject": 0, "colour": "red" }`);
    const [faulty, twice, none] = await Promise.all([
      cli.fail(["clients", "policy", clientId, "--set", file]),
      cli.fail(["clients", "policy", clientId, "--set", "-"], `{ "tools": [], "tools": ["x"] }`),
      cli.fail(["clients", "policy", "cli_none"]),
    ]);
    expect(faulty).toMatchObject({ code: 1, error: { code: "invalid_request" } });
    expect(faulty.error.message).toContain("maxPendingPerSubject");
    expect(twice).toMatchObject({ code: 1, error: { code: "malformed_json" } });
    expect(none).toMatchObject({ code: 1, error: { code: "not_found" } });
    await rm(dir, { recursive: true });
  });

  it("makes a key that the machine API takes within its scope, and revokes it at once for what changes something", async () => {
    const person = await addPerson(service, "Keys");
    const { clientId } = await addClient(service, { name: "Keys" }, actor);
    const created = await cli.ask<{ keyId: string; apiKey: string }>(
      `keys create --client ${clientId} --scope approvals:create --tool delete_project`.split(" "),
    );
    const api = apiFor(service, created.apiKey);
    expect((await api("POST", "/approvals", mintBody(person))).status).toBe(201);
    expect((await api("GET", "/approvals")).status).toBe(403);
    const { keys } = await cli.ask<{ keys: object[] }>(["keys", "list", "--client", clientId]);
    expect(keys).toMatchObject([
      { keyId: created.keyId, scopes: ["approvals:create"], tools: ["delete_project"], revokedAt: null },
    ]);
    expect(JSON.stringify(keys)).not.toContain(created.apiKey.slice(-43));

    expect(await cli.ask(["keys", "revoke", created.keyId])).toEqual({ keyId: created.keyId, clientId, changed: true });
    expect((await api("POST", "/approvals", mintBody(person))).ok).toBe(false);
    const [again, unknown, nobodys] = await Promise.all([
      cli.ask(["keys", "revoke", created.keyId]),
      cli.fail(["keys", "revoke", "000000000000"]),
      cli.fail(["keys", "create", "--client", "cli_none"]),
    ]);
    expect(again).toMatchObject({ changed: false });
    expect([unknown.error.code, nobodys.error.code]).toEqual(["not_found", "not_found"]);
  });

  it("freezes a client for everybody: what is live is withdrawn and nothing new begins, until it is unfrozen", async () => {
    const person = await addPerson(service, "Frozen");
    const client = await addTestClient(service);
    const { id } = await mintApproval(client, person);
    const parkedAt = performance.now();
    const parked = client.api("GET", `/approvals/${id}?wait=50`);
    expect(await cli.ask(["clients", "freeze", client.clientId])).toEqual({
      clientId: client.clientId,
      changed: true,
      withdrawn: [id],
    });
    expect(await (await parked).json()).toMatchObject({ status: "withdrawn", next: "stop" });
    // Nothing sweeps in this process: it was the command's announcement that woke the wait.
    expect(performance.now() - parkedAt).toBeLessThan(45_000);
    expect((await client.api("POST", "/approvals", mintBody(person))).status).toBe(403);
    expect(await cli.ask(["clients", "freeze", client.clientId])).toMatchObject({ changed: false, withdrawn: [] });
    const { clients } = await cli.ask<{ clients: { clientId: string }[] }>(["clients", "list"]);
    expect(clients.find((listed) => listed.clientId === client.clientId)).toMatchObject({ isFrozen: true });
    expect(await cli.ask(["clients", "unfreeze", client.clientId])).toMatchObject({ changed: true });
    expect((await client.api("POST", "/approvals", mintBody(person))).status).toBe(201);
  });

  it("publishes a new signing key and goes on signing with the old one until it is known everywhere", async () => {
    const before = service.keys.signer();
    const rotated = await cli.ask<{ kid: string; retired: string[] }>(["keys", "rotate-signing"]);
    expect(rotated.retired).toEqual([]);
    await service.keys.refresh();
    expect(service.keys.published().map((key) => key.kid)).toEqual(expect.arrayContaining([before.kid, rotated.kid]));
    expect(service.keys.signer().kid).toBe(before.kid);
  });
});

describe("the command", () => {
  it("names every fault of the configuration and changes nothing", async () => {
    const { code, stdout, stderr } = await cli.run(["clients", "list", "--json"], "", {
      PORT: "none",
      LOG_LEVEL: "loud",
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    const { error } = JSON.parse(stderr) as { error: { code: string; message: string } };
    expect(error).toEqual({ code: "configuration", message: expect.stringMatching(/PORT: .*\n.*LOG_LEVEL: /) });
  });

  it("draws control characters of outside text instead of letting the terminal obey them (I11)", async () => {
    await addClient(service, { name: "Ev\u001b[2Jil" }, actor);
    const { stdout } = await cli.run(["clients", "list"]);
    expect(stdout).toContain("Ev[U+001B][2Jil");
  });
});

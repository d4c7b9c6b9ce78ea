import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { listSigningKeys } from "@/lib/keys/list";
import type { Service } from "@/lib/process";
import { addPerson, addTestClient, mintApproval, signIn, type TestClient } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService } from "../support/database";
import { decideAs } from "../support/deciding";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let cli: CommandLine;
let service: Service;
let stop: () => Promise<void>;
let client: TestClient;

beforeAll(async () => {
  const secret = randomBytes(32);
  const started = await createTestService({ secret });
  ({ service, stop } = started);
  client = await addTestClient(service);
  cli = commandLine({
    DATABASE_URL: started.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: service.config.url,
  });
});
afterAll(() => stop());

async function declinedReceipt(): Promise<string> {
  const ada = await addPerson(service);
  const { id } = await mintApproval(client, ada);
  await decideAs(service, (await signIn(service, ada)).session, id, "decline");
  return (await service.prisma.approval.findUniqueOrThrow({ where: { id } })).receipt ?? "";
}

describe("keys revoke-signing", () => {
  it("refuses an unknown key, an instant that is none, and one that is to come", async () => {
    const { kid } = service.keys.signer();
    const since = (time: string) => cli.fail(["keys", "revoke-signing", kid, "--since", time]);
    const [unknown, none, date, future] = await Promise.all([
      cli.fail(["keys", "revoke-signing", "unknown"]),
      since("yesterday"),
      since("2026-12-01"),
      since(new Date(Date.now() + 60_000).toISOString()),
    ]);
    expect(unknown).toMatchObject({ code: 1, error: { code: "not_found" } });
    expect([none.error.code, date.error.code]).toEqual(["bad_instant", "bad_instant"]);
    expect(future).toMatchObject({
      error: { code: "invalid_request", message: expect.stringContaining("since: must not be in the future") },
    });
    expect(await listSigningKeys(service)).toMatchObject([{ kid, status: "active" }]);
  });

  it("stops what is open at once: a parked wait ends, other processes know, and another key signs", async () => {
    const { kid } = service.keys.signer();
    const { id } = await mintApproval(client, await addPerson(service));
    const parkedAt = performance.now();
    const parked = client.api("GET", `/approvals/${id}?wait=50`);
    const revoked = await cli.ask<{ successor: string }>(["keys", "revoke-signing", kid]);
    expect(revoked).toMatchObject({ kid, changed: true, withdrawn: [id], successor: expect.any(String) });
    expect(await (await parked).json()).toMatchObject({ status: "withdrawn", reason: "key_revoked", next: "stop" });
    expect(performance.now() - parkedAt).toBeLessThan(45_000);
    await vi.waitFor(() => expect(service.keys.published().map((jwk) => jwk.kid)).toEqual([revoked.successor]), 5_000);
    const { signingKeys } = await cli.ask<{ signingKeys: { kid: string; status: string }[] }>(["keys", "list-signing"]);
    expect(new Map(signingKeys.map((key) => [key.kid, key.status]))).toEqual(
      new Map([
        [kid, "revoked"],
        [revoked.successor, "active"],
      ]),
    );
    const again = await cli.run(["keys", "revoke-signing", kid]);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/was revoked before, from .*Z on\./) });
  });

  it("says in words what happened, and since when", async () => {
    const { kid } = service.keys.signer();
    await mintApproval(client, await addPerson(service));
    const { code, stdout } = await cli.run(["keys", "revoke-signing", kid, "--since", "2026-01-02T03:04:05+01:00"]);
    expect(code).toBe(0);
    expect(stdout).toContain(`${kid} is revoked: what it signed from 2026-01-02T02:04:05.000Z on is unproven.`);
    expect(stdout).toContain("1 approval that it had signed and that could still be decided or run is withdrawn.");
    expect(stdout).toMatch(/signs in its place from now on\./);
    expect(stdout).toContain("within 300 seconds");
    await service.keys.refresh();
  });
});

describe("verify-receipt, of a key that was revoked since", () => {
  it("says that a receipt is unproven from that instant on, and on what it rests before it; neither counts as genuine", async () => {
    const receipt = await declinedReceipt();
    const { kid } = service.keys.signer();
    const { iat } = JSON.parse(Buffer.from(receipt.split(".")[1] ?? "", "base64url").toString()) as { iat: number };
    const at = (seconds: number) => new Date((iat + seconds) * 1000).toISOString();
    expect(JSON.parse((await cli.run(["verify-receipt", "-", "--json"], receipt)).stdout)).toMatchObject({
      genuine: true,
      standing: "genuine",
    });
    await vi.waitFor(() => expect(Date.now()).toBeGreaterThan((iat + 1) * 1000 + 100), {
      timeout: 5_000,
      interval: 50,
    });
    await cli.ask(["keys", "revoke-signing", kid, "--since", at(1)]);
    const [before, words] = await Promise.all([
      cli.run(["verify-receipt", "-", "--json"], receipt),
      cli.run(["verify-receipt", "-"], receipt),
    ]);
    expect([before.code, words.code]).toEqual([1, 1]);
    expect(JSON.parse(before.stdout)).toMatchObject({
      genuine: false,
      standing: "before_revocation",
      keyRevokedAt: at(1),
      claims: { decision: "decline" },
    });
    expect(words.stdout).toMatch(
      /^Signed before the key was revoked .*genuine as far as its own date can be trusted\./,
    );
    expect(words.stdout).toContain("result             declined");

    await cli.ask(["keys", "revoke-signing", kid, "--since", at(0)]);
    const [unproven, unprovenWords, spoilt] = await Promise.all([
      cli.run(["verify-receipt", "-", "--json"], receipt),
      cli.run(["verify-receipt", "-"], receipt),
      cli.run(["verify-receipt", "-", "--json"], `${receipt.slice(0, -4)}AAAA`),
    ]);
    const verdict = JSON.parse(unproven.stdout) as Record<string, unknown>;
    expect([unproven.code, verdict["genuine"], verdict["standing"], verdict["claims"]]).toEqual([
      1,
      false,
      "unproven",
      undefined,
    ]);
    expect(unprovenWords.stdout).toMatch(/^UNPROVEN: /);
    expect(unprovenWords.stdout).toContain("Nothing it says can be relied on.");
    expect(JSON.parse(spoilt.stdout)).toMatchObject({ genuine: false, standing: "refused", reason: "bad_signature" });
  });
});

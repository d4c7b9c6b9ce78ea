import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Service } from "@/lib/process";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "../support/actors";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService } from "../support/database";
import { decideAs } from "../support/deciding";

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

describe("verify-receipt", () => {
  let receipt: string;
  let clientId: string;
  let person: Person;

  beforeAll(async () => {
    person = await addPerson(service, "Receipt");
    const client = await addTestClient(service);
    clientId = client.clientId;
    const { id } = await mintApproval(client, person);
    await decideAs(service, (await signIn(service, person)).session, id, "accept");
    receipt = (await service.prisma.approval.findUniqueOrThrow({ where: { id } })).receipt ?? "";
  });

  it("says of a genuine receipt who decided what, when and by what right, and that it grants nothing", async () => {
    const { code, stdout, stderr } = await cli.run(["verify-receipt", "-"], receipt);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^Genuine: signed with key /);
    expect(stdout).toContain("as the receipt itself says: it was not compared");
    expect(stdout).toContain(`decided by         ${person.sub} at ${service.issuer}`);
    expect(stdout).toMatch(/result +accepted at \d{4}-\d\d-\d\dT/);
    expect(stdout).toContain("by what right      it is the very identity that was asked");
    expect(stdout).toContain("It grants nothing: only consume lets the tool run");
  });

  it("verifies without any deployment where issuer and key set are named", async () => {
    const dir = await mkdtemp(path.join(tmpdir(), "countersign-jwks-"));
    const jwks = path.join(dir, "jwks.json");
    await writeFile(jwks, JSON.stringify({ keys: service.keys.published() }));
    const args = ["verify-receipt", "-", "--json", "--jwks", jwks, "--issuer", service.issuer, "--audience", clientId];
    const unreachable = { DATABASE_URL: "postgresql://127.0.0.1:1/none" };
    const { code, stdout } = await cli.run(args, receipt, unreachable);
    await rm(dir, { recursive: true });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      genuine: true,
      audienceFrom: "argument",
      claims: { decision: "accept" },
    });
  });

  it("refuses a receipt that was changed, is of another issuer or audience, or is none, with exit code 1", async () => {
    const [head, payload = "", signature] = receipt.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    const changed = Buffer.from(JSON.stringify({ ...claims, tool: "drop_database" })).toString("base64url");
    const verdict = async (text: string, ...more: string[]) => {
      const { code, stdout } = await cli.run(["verify-receipt", "-", "--json", ...more], text);
      const { genuine, reason } = JSON.parse(stdout) as { genuine: boolean; reason: string };
      return { code, genuine, reason };
    };
    const verdicts = await Promise.all([
      verdict([head, changed, signature].join(".")),
      verdict(receipt, "--issuer", foreign),
      verdict(receipt, "--audience", "cli_x"),
      verdict("no receipt"),
    ]);
    const reasons = ["bad_signature", "wrong_issuer", "wrong_audience", "malformed"];
    expect(verdicts).toEqual(reasons.map((reason) => ({ code: 1, genuine: false, reason })));
  });
});

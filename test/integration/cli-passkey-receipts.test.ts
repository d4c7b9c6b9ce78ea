import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSigner, type Signer } from "@countersign/mcp/fake/approval";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { commandLine } from "../support/command-line";
import { createAuthenticator } from "../support/software-authenticator";
import { AUDIENCE, acceptClaims, type Claims, evidenceOf, ISSUER, ORIGIN, pinOf, RP_ID } from "../unit/sdk/evidence";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const mallory = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const subject = { iss: "https://as.example.com", sub: "alice" };

// Nothing of the deployment is needed, and nothing of it answers.
const cli = commandLine({ DATABASE_URL: "postgresql://127.0.0.1:1/none" });
let dir: string;
let signer: Signer;

beforeAll(async () => {
  dir = await mkdtemp(path.join(tmpdir(), "countersign-passkeys-"));
  signer = await createSigner("key-1");
  await write("jwks", { keys: [signer.publicJwk] });
  await write("alice", [{ ...pinOf(alice, subject), name: "Pixel 9", createdAt: "2026-11-01T00:00:00Z" }]);
  await write("mallory", { credentials: [pinOf(mallory, subject)] });
});
afterAll(() => rm(dir, { recursive: true }));

const fileOf = (name: string) => path.join(dir, `${name}.json`);
const write = (name: string, json: unknown) => writeFile(fileOf(name), JSON.stringify(json));

async function verify(claims: Claims, ...more: string[]) {
  const anywhere = ["--jwks", fileOf("jwks"), "--issuer", ISSUER, "--audience", AUDIENCE];
  return cli.run(["verify-receipt", "-", ...anywhere, ...more], await signer.sign(claims));
}

function evidenced(changed: Claims = {}): Claims {
  const claims = acceptClaims();
  return { ...claims, passkey: { ...evidenceOf(alice, claims), ...changed } };
}

describe("verify-receipt with a passkey's evidence", () => {
  it("proves offline what the passkey signed, and says whose word it is that the passkey is this person's", async () => {
    const [alone, checked] = await Promise.all([
      verify(evidenced()),
      verify(evidenced(), "--credentials", fileOf("alice"), "--passkey-required", "--origin", ORIGIN),
    ]);
    expect([alone.code, checked.code]).toEqual([0, 0]);
    expect(alone.stdout).toContain("by the service alone");
    expect(checked.stdout).toContain('the file has this passkey for alice at https://as.example.com, named "Pixel 9"');
    expect(checked.stdout).toMatch(/passkey required +for an accept\n +passkeys allowed +1, from the file\n/);
  });

  it("tells programs the same", async () => {
    const { stdout } = await verify(evidenced(), "--credentials", fileOf("alice"), "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      genuine: true,
      passkey: { credentialId: alice.credentialId, pinned: "subject" },
    });
  });

  it("refuses, with exit code 1, what does not hold, what is missing and what is not the person's", async () => {
    const verdicts = await Promise.all([
      verify(evidenced({ nonce: "AAAAAAAAAAAAAAAAAAAAAA" }), "--json"),
      verify(acceptClaims(), "--passkey-required", "--json"),
      verify(evidenced(), "--credentials", fileOf("mallory"), "--json"),
      verify(evidenced(), "--origin", "https://elsewhere.example.com", "--json"),
    ]);
    expect(verdicts.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
    expect(verdicts.map(({ stdout }) => JSON.parse(stdout))).toMatchObject([
      { genuine: false, reason: "bad_evidence", fault: "wrong_challenge" },
      { genuine: false, reason: "missing_evidence" },
      { genuine: false, reason: "unpinned_credential" },
      { genuine: false, reason: "bad_evidence", fault: "wrong_origin" },
    ]);
  });

  it("a file that is no list of passkeys is a mistake of the call, and no verdict", async () => {
    await write("faulty", [{ ...pinOf(alice, subject), publicKey: { kty: "EC" } }]);
    const { code, stdout, stderr } = await verify(evidenced(), "--credentials", fileOf("faulty"), "--json");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "bad_credentials" } });
    expect(stderr).toContain("0.publicKey");
  });
});

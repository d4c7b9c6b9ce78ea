import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createSigner, type Signer } from "@countersign/mcp/fake/approval";
import { Command } from "commander";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Result } from "@/cli/output";
import { addReceiptCommand } from "@/cli/receipts";
import { createAuthenticator } from "../../support/software-authenticator";
import { AUDIENCE, acceptClaims, evidenceOf, ISSUER, ORIGIN, pinOf, RP_ID } from "../sdk/evidence";

const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const subject = { iss: "https://as.example.com", sub: "alice" };
const linked = { iss: "https://idp.example.net", sub: "a-17" };

let signer: Signer;

beforeAll(async () => {
  signer = await createSigner("key-1");
});

/** What the command finds of a receipt whose passkey is pinned for `person`, without a deployment. */
async function verify(person: { iss: string; sub: string } | undefined, ...more: string[]) {
  const folder = await mkdtemp(path.join(tmpdir(), "verify-receipt-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = async (name: string, text: string) => {
    await writeFile(path.join(folder, name), text);
    return path.join(folder, name);
  };
  const claims = acceptClaims();
  const receipt = await file("receipt", await signer.sign({ ...claims, passkey: evidenceOf(alice, claims) }));
  const jwks = await file("jwks.json", JSON.stringify({ keys: [signer.publicJwk] }));
  const pins = person && (await file("pins.json", JSON.stringify([pinOf(alice, person)])));
  let found: (Result & { exitCode?: number }) | undefined;
  const program = new Command();
  addReceiptCommand(program, async (work) => {
    found = await work();
  });
  const pinned = ["--issuer", ISSUER, "--audience", AUDIENCE, "--jwks", jwks];
  const args = [receipt, ...pinned, ...(pins === undefined ? [] : ["--credentials", pins]), ...more];
  await program.parseAsync(["verify-receipt", ...args], { from: "user" });
  return found;
}

describe("verify-receipt with a file of passkeys", () => {
  it("takes the linked identity's, and says that the link is the service's word", async () => {
    const found = await verify(linked);
    expect(found?.json).toMatchObject({ genuine: true, passkey: { pinned: "authn" } });
    expect(found?.lines.join("\n")).toContain("that an admin linked the two identities: by the service alone");
  });

  it("refuses that one with --pinned-subject, and takes the subject's own", async () => {
    const refused = await verify(linked, "--pinned-subject");
    expect(refused).toMatchObject({ json: { genuine: false, reason: "unpinned_credential" }, exitCode: 1 });
    const taken = await verify(subject, "--pinned-subject");
    expect(taken?.json).toMatchObject({ genuine: true, passkey: { pinned: "subject" } });
    expect(taken?.lines).toContain("  passkeys allowed   1, from the file, and of the identity asked alone");
  });

  it("does not take --pinned-subject without a file, which could never be met", async () => {
    await expect(verify(undefined, "--pinned-subject")).rejects.toMatchObject({ code: "bad_credentials" });
  });
});

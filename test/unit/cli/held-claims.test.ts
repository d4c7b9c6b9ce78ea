import { verifyPasskeyEvidence } from "@countersign/mcp/passkey-evidence";
import { receiptClaimsSchema } from "@countersign/mcp/receipt-claims";
import { describe, expect, it } from "vitest";
import { claimedClaims, heldClaims, heldLines } from "@/cli/held-claims";
import { revokedResult } from "@/cli/receipts";
import { createAuthenticator } from "../../support/software-authenticator";
import { acceptClaims, at, type Claims, evidenceOf, ORIGIN, pinOf, RP_ID } from "../sdk/evidence";

const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const subject = { iss: "https://as.example.com", sub: "alice" };
const signed = acceptClaims();
const evidence = evidenceOf(alice, signed);
const claims = receiptClaimsSchema.parse({ ...signed, passkey: evidence });

/** What the thief of a signing key writes around what Alice's passkey once signed; each member that it does not cover is another. */
const thiefs: Claims = {
  ...signed,
  sub_id: { format: "iss_sub", ...subject, name: "forged" },
  authn: { iss: "https://forged.example.com", sub: "forged", via: "admin_link" },
  jti: "rct_forged",
  asked_at: at(-19),
  locale: "forged",
  shown_at: at(1),
  decided_at: at(18),
  tool: "forged_tool",
  caller: { iss: "https://forged.example.com", sub: "forged" },
  auth_time: 1_234_567,
  amr: ["forged"],
  act_by: at(999),
  policy_version: 99_999,
  forged: "forged",
  passkey: { ...evidence, created_at: at(-3599), user_handle: Buffer.from("forged").toString("base64url") },
};

/** The verdict over a receipt by a revoked key, whose passkey was compared with a file that has it for `person`. */
function unproven(stated: Claims, person?: { iss: string; sub: string }) {
  const parsed = receiptClaimsSchema.parse(stated);
  const pins = person && [pinOf(alice, person)];
  const found = verifyPasskeyEvidence(parsed, pins ? { credentials: pins } : {});
  if (!found.ok) throw new Error(found.reason);
  const verdict = { ok: true, kid: "key-1", claims: parsed, passkey: found.passkey } as const;
  const revokedAt = new Date("2026-11-01T00:00:00Z");
  const compared = { issuer: parsed.iss, audience: parsed.aud, isAudienceClaimed: false };
  return revokedResult(
    verdict,
    { standing: "unproven", revokedAt },
    { ...compared, ...(pins ? { credentials: pins } : {}) },
  );
}

const isClaimed = (line: string) => line.startsWith("  claimed only ");
const heldOf = (line: string) => line.startsWith("  held: ");

describe("verify-receipt, of an unproven receipt with a passkey of the file", () => {
  it("prints as held what the passkey signed, and nothing that the thief could have written beside it", () => {
    const [honest, forged] = [unproven({ ...signed, passkey: evidence }, subject), unproven(thiefs, subject)];
    expect(forged.json["held"]).toEqual(honest.json["held"]);
    expect(forged.json["held"]).toEqual({
      approval_id: signed["approval_id"],
      decision: "accept",
      status: "accepted",
      action_digest: signed["action_digest"],
      view_digest: signed["view_digest"],
      sub_id: { format: "iss_sub", ...subject },
      iss: signed["iss"],
      aud: signed["aud"],
      passkey: { credential_id: alice.credentialId, origin: ORIGIN, iat: evidence["iat"], owner: subject },
    });
    expect(forged.lines.filter(heldOf)).toEqual(honest.lines.filter(heldOf));
    expect(forged.lines.filter((line) => !isClaimed(line)).join("\n")).not.toMatch(/forged|99999|1234567/);
    expect([honest.exitCode, forged.exitCode]).toEqual([1, 1]);
  });

  it("prints all the rest as claimed, to programs every member of it", () => {
    const { json, lines } = unproven(thiefs, subject);
    const { held, claimed, ...outside } = json;
    const {
      approval_id: _id,
      decision: _decision,
      status: _status,
      action_digest: _action,
      view_digest: _view,
      iss: _iss,
      aud: _aud,
      ...rest
    } = thiefs;
    const said = thiefs["passkey"] as Claims;
    expect(claimed).toEqual({
      ...rest,
      sub_id: { name: "forged" },
      passkey: { created_at: said["created_at"], user_handle: said["user_handle"] },
    });
    expect(JSON.stringify(outside)).not.toMatch(/forged|99999|1234567/);
    expect(json).not.toHaveProperty("claims");
    expect(lines.filter(isClaimed)).toEqual([
      expect.stringMatching(/^ {2}claimed only +tool forged_tool; on behalf of forged at .*decided by forged at /),
    ]);
    expect(held).toBeDefined();
  });

  it("says whose passkey the file says it is, and that the link to the person asked is claimed: a passkey signs any name", () => {
    const mallory = { iss: "https://idp.example.net", sub: "mallory" };
    const { json, lines } = unproven(
      { ...signed, authn: { ...mallory, via: "admin_link" }, passkey: evidence },
      mallory,
    );
    expect(json["held"]).toMatchObject({ sub_id: subject, passkey: { owner: mallory } });
    expect(lines).toContain(
      `  held: passkey      ${alice.credentialId}, which the file has for mallory at https://idp.example.net`,
    );
    expect(lines.find(isClaimed)).toContain("that an admin linked alice at https://as.example.com to that person");
  });
});

describe("verify-receipt, of an unproven receipt with no passkey of a file", () => {
  it("prints nothing as held, since the thief may have brought a passkey of their own", () => {
    for (const stated of [{ ...signed, passkey: evidence }, signed]) {
      const { json, lines } = unproven(stated);
      expect(json).not.toHaveProperty("held");
      expect(json).toMatchObject({ genuine: false, standing: "unproven", passkey: null, claimed: stated });
      expect(lines.filter(heldOf)).toEqual([]);
      expect(lines).toContain("Nothing it says can be relied on.");
      expect(lines.at(-1)).toMatch(
        /^ {2}claimed only +approval apr_0+, accepted; of alice at .*; tool delete_project; /,
      );
    }
  });

  it("nor where the evidence fits, but was compared with none", () => {
    const unpinned = { credentialId: alice.credentialId, pinned: false } as const;
    expect(heldClaims(claims, unpinned)).toBeUndefined();
    expect(claimedClaims(claims, unpinned)).toEqual(claims);
    expect(heldLines(claims, unpinned)).toHaveLength(1);
  });
});

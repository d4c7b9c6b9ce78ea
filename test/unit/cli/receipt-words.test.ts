import type { PinnedCredential } from "@countersign/mcp";
import { receiptClaimsSchema } from "@countersign/mcp";
import { describe, expect, it } from "vitest";
import { describeReceipt, refusalWords } from "@/cli/receipt-words";
import { createAuthenticator } from "../../support/software-authenticator";
import { acceptClaims, type Claims, evidenceOf, ORIGIN, pinOf, RP_ID } from "../sdk/evidence";

const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const { credentialId } = alice;
const subject = { iss: "https://as.example.com", sub: "alice" };
const linked = { iss: "https://idp.example.net", sub: "a-17" };

function wordsFor(pinned: false | "subject" | "authn", credentials?: PinnedCredential[]): string {
  const claims = acceptClaims();
  const evidenced = receiptClaimsSchema.parse({ ...claims, passkey: evidenceOf(alice, claims) });
  return describeReceipt(evidenced, { credentialId, pinned }, credentials).join("\n");
}

const wordsWithout = (changed: Claims) => describeReceipt(receiptClaimsSchema.parse(acceptClaims(changed)), undefined);

describe("the words for a receipt with a passkey's evidence", () => {
  it("say what is proved: who holds which passkey, by what check, signed what and when, and that it outlives a leak", () => {
    const words = wordsFor(false);
    expect(words).toContain(`passkey            ${credentialId}, registered 2026-11-05T09:00:00Z for ${RP_ID}`);
    expect(words).toContain(`signed with it     at ${ORIGIN}, in answer to a question of 2026-11-05T10:00:10.000Z`);
    expect(words).toContain("asked for PIN, fingerprint or face, signed exactly this action");
    expect(words).toContain(`sha256:${"cd".repeat(32)}`);
    expect(words).toContain("even if the database and the service's signing key leak later");
  });

  it("say when it was asked for, and that the passkey is older by the service's dates", () => {
    const words = wordsFor(false);
    expect(words).toContain("asked at           2026-11-05T09:59:40Z");
    expect(words).toContain("registered before this was asked for, as the service dates both");
  });

  it("say that nothing is known of that where the receipt does not date it", () => {
    const claims = acceptClaims({ asked_at: undefined });
    const evidenced = receiptClaimsSchema.parse({ ...claims, passkey: evidenceOf(alice, claims) });
    const words = describeReceipt(evidenced, { credentialId, pinned: false }).join("\n");
    expect(words).not.toContain("asked at");
    expect(words).toContain("when this was asked for, so not whether the passkey is older than that");
  });

  it("say that only the service vouches for whose passkey it is, where nothing else was asked", () => {
    const words = wordsFor(false);
    expect(words).toContain("vouched for        that the passkey is this person's: by the service alone");
    expect(words).not.toContain("checked  ");
  });

  it("say that the file knows it as the subject's, and by what name", () => {
    const other = { ...pinOf(alice, linked), name: "of another" };
    const words = wordsFor("subject", [other, { ...pinOf(alice, subject), name: "Pixel 9" }]);
    expect(words).toContain(
      'checked            the file has this passkey for alice at https://as.example.com, named "Pixel 9"',
    );
    expect(words).not.toContain("is this person's");
  });

  it("say that the file knows it as the linked identity's, and that the link is the service's word", () => {
    const words = wordsFor("authn", [pinOf(alice, linked)]);
    expect(words).toContain("the file has this passkey for a-17 at https://idp.example.net");
    expect(words).toContain("vouched for        that an admin linked the two identities: by the service alone");
  });

  it("say of an accept without one that it is the service's word, and of a decline nothing", () => {
    expect(wordsWithout({}).join("\n")).toContain(
      "none signed this: that this person accepted it is the service's word",
    );
    expect(wordsWithout({ status: "declined", decision: "decline" }).join("\n")).not.toContain("passkey");
  });
});

describe("the words for evidence that does not hold", () => {
  it("say which part of it", () => {
    expect(refusalWords("bad_evidence", "wrong_challenge")).toBe(
      "the passkey's signature in it does not hold: it is for another approval, action, page, person, service, MCP server or moment",
    );
    expect(refusalWords("bad_evidence", "late_credential")).toContain("before the approval was asked for and shown");
    expect(refusalWords("bad_evidence", "bad_key")).toContain("under which anybody can sign");
    expect(refusalWords("missing_evidence")).toBe("no passkey signed this accept, and one was required");
    expect(refusalWords("unpinned_credential")).toContain("not the file's for this person");
  });
});

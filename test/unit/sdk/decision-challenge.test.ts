import { createHash } from "node:crypto";
import { type DecisionClaims, decisionChallenge } from "@countersign/mcp/decision-challenge";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const claims: DecisionClaims = {
  approvalId: "apr_00000000000000000000000000",
  decision: "accept",
  actionDigest: "sha256:ab",
  viewDigest: "sha256:cd",
  subject: { iss: "https://as.example.com", sub: "älice" },
  iss: "https://countersign.example.com",
  clientId: "cli_crm",
  iat: 1_793_872_810,
  nonce: "AAAAAAAAAAAAAAAAAAAAAA",
};

describe("the challenge of a decision", () => {
  it("is the SHA-256 of the sorted, unspaced JSON text of its claims and its context", () => {
    const text =
      '{"actionDigest":"sha256:ab","approvalId":"apr_00000000000000000000000000","clientId":"cli_crm","ctx":"countersign/decision/1","decision":"accept","iat":1793872810,"iss":"https://countersign.example.com","nonce":"AAAAAAAAAAAAAAAAAAAAAA","sub_id":{"format":"iss_sub","iss":"https://as.example.com","sub":"älice"},"viewDigest":"sha256:cd"}';
    expect(decisionChallenge(claims)).toBe(createHash("sha256").update(text, "utf8").digest("base64url"));
  });

  it("says nothing of members that are not its own", () => {
    const more = { ...claims, subject: { ...claims.subject, name: "Alice" }, tool: "delete_project" };
    expect(decisionChallenge(more)).toBe(decisionChallenge(claims));
  });

  it("is another one for any two decisions that differ", () => {
    const text = fc.constantFrom("", "a", "b", "ab", 'a","b":"');
    const decision = fc.record({
      approvalId: text,
      decision: fc.constant("accept" as const),
      actionDigest: text,
      viewDigest: text,
      subject: fc.record({ iss: text, sub: text }),
      iss: text,
      clientId: text,
      iat: fc.nat(2),
      nonce: text,
    });
    fc.assert(
      fc.property(decision, decision, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        return (decisionChallenge(one) === decisionChallenge(other)) === isSame;
      }),
    );
  });
});

import { receiptClaimsSchema } from "@countersign/mcp/receipt-claims";
import { describe, expect, it } from "vitest";
import { heldClaims, heldLines } from "@/cli/held-claims";
import { createAuthenticator } from "../../support/software-authenticator";
import { acceptClaims, evidenceOf, ORIGIN, RP_ID } from "../sdk/evidence";

const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const signed = acceptClaims();
const claims = receiptClaimsSchema.parse({ ...signed, passkey: evidenceOf(alice, signed) });

describe("what a pinned passkey holds up of a receipt whose key is in other hands", () => {
  it("is what it signed, and nothing that the thief could have written beside it", () => {
    const thief = receiptClaimsSchema.parse({
      ...claims,
      tool: "other_tool",
      caller: { iss: "https://evil.example.com", sub: "mallory" },
      authn: { iss: "https://evil.example.com", sub: "mallory", via: "admin_link" },
      decided_at: "2001-01-01T00:00:00Z",
      act_by: "2001-01-01T00:00:01Z",
    });
    expect(heldClaims(thief)).toEqual(heldClaims(claims));
    expect(JSON.stringify(heldClaims(thief))).not.toMatch(/other_tool|mallory|2001/);
    expect(heldClaims(claims)).toMatchObject({ approval_id: claims.approval_id, decision: "accept", origin: ORIGIN });
  });

  it("in words too: the rest is said to be claimed only", () => {
    const lines = heldLines(receiptClaimsSchema.parse({ ...claims, tool: "other_tool" }));
    expect(lines.filter((line) => !line.includes("claimed only")).join("\n")).not.toContain("other_tool");
    expect(lines.at(-1)).toMatch(/^ {2}claimed only +tool other_tool; on behalf of /);
  });
});

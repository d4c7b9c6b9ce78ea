import { createHash } from "node:crypto";
import { canonicalJson } from "./digest";

/** What a person signs with a passkey: this decision about this action as this view showed it, by this person, once. */
export type DecisionClaims = {
  approvalId: string;
  /** Only an accept is ever signed: saying no asks for nothing. */
  decision: "accept";
  actionDigest: string;
  viewDigest: string;
  subject: { iss: string; sub: string };
  /** The service that asks. */
  iss: string;
  /** The MCP server that asked for the approval. */
  clientId: string;
  /** When the challenge was made, as NumericDate (RFC 7519). */
  iat: number;
  /** Makes each challenge another one; base64url, at least 128 random bits. */
  nonce: string;
};

/**
 * The WebAuthn challenge of a decision (contract section 7): the SHA-256 of the RFC 8785 text of the claims, as base64url without
 * padding. Whoever has the claims can compute it again, so the signature over it says what was signed.
 * @throws InexactValueError when JSON would alter a claim
 */
export function decisionChallenge(claims: DecisionClaims): string {
  const { approvalId, decision, actionDigest, viewDigest, subject, iss, clientId, iat, nonce } = claims;
  const text = canonicalJson({
    ctx: "countersign/decision/1",
    approvalId,
    decision,
    actionDigest,
    viewDigest,
    sub_id: { format: "iss_sub", iss: subject.iss, sub: subject.sub },
    iss,
    clientId,
    iat,
    nonce,
  });
  return createHash("sha256").update(text, "utf8").digest("base64url");
}

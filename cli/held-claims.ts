import type { ReceiptClaims } from "@countersign/mcp/receipt";

/**
 * What a passkey's own signature covers of a receipt (contract section 7): it holds also where the key that signed the receipt is in other
 * hands. Everything else in the receipt is then a claim of whoever signed it.
 */
export function heldClaims(claims: ReceiptClaims): Record<string, unknown> {
  const { approval_id, decision, status, action_digest, view_digest, sub_id, iss, aud, passkey } = claims;
  if (passkey === undefined) return {};
  const asked = new Date(passkey.iat * 1000).toISOString();
  return { approval_id, decision, status, action_digest, view_digest, sub_id, iss, aud, origin: passkey.origin, asked };
}

/** The same in lines for people, and what is merely claimed. */
export function heldLines(claims: ReceiptClaims): string[] {
  const { sub_id: subject, passkey, caller, authn } = claims;
  if (passkey === undefined) return [];
  const claimed = [
    `tool ${claims.tool}`,
    `on behalf of ${caller.sub} at ${caller.iss}`,
    ...(authn === undefined ? [] : [`decided by ${authn.sub} at ${authn.iss}`]),
    ...(claims.decided_at === undefined ? [] : [`at ${claims.decided_at}`]),
    `the passkey registered ${passkey.created_at}`,
  ];
  return [
    `  held: approval     ${claims.approval_id}, asked by ${claims.aud}`,
    `  held: of           ${subject.sub} at ${subject.iss}`,
    `  held: action       ${claims.action_digest}`,
    `  held: decision     ${claims.decision ?? "none"}, on the page ${claims.view_digest ?? "none"}`,
    `  held: signed       at ${passkey.origin}, in answer to a question of ${new Date(passkey.iat * 1000).toISOString()}`,
    `  claimed only       ${claimed.join("; ")}`,
  ];
}

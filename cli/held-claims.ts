import type { VerifiedPasskey } from "@countersign/mcp/passkey-evidence";
import type { ReceiptClaims } from "@countersign/mcp/receipt";

/**
 * What a passkey's own signature covers of a receipt (contract section 7), and whose passkey it is by the file it was compared with: that
 * holds also where the key that signed the receipt is in other hands. Undefined where no passkey of the file signed: then nothing does.
 */
export function heldClaims(claims: ReceiptClaims, verified: VerifiedPasskey | undefined) {
  const { approval_id, decision, status, action_digest, view_digest, sub_id, iss, aud, passkey } = claims;
  const owner = ownerOf(claims, verified);
  if (passkey === undefined || owner === undefined) return undefined;
  return {
    ...{ approval_id, decision, status, action_digest, view_digest, iss, aud },
    sub_id: { format: sub_id.format, iss: sub_id.iss, sub: sub_id.sub },
    passkey: { credential_id: passkey.credential_id, origin: passkey.origin, iat: passkey.iat, owner },
  };
}

/** All the rest of the receipt: what whoever signed it says, and nobody else. */
export function claimedClaims(claims: ReceiptClaims, verified: VerifiedPasskey | undefined): Record<string, unknown> {
  const held = heldClaims(claims, verified);
  if (held === undefined) return claims;
  const { passkey, sub_id: subject } = claims;
  const { format: _format, iss: _iss, sub: _sub, ...more } = subject;
  const rest = Object.entries(claims).filter(([name]) => !(name in held));
  return {
    ...Object.fromEntries(rest),
    ...(Object.keys(more).length === 0 ? {} : { sub_id: more }),
    passkey: { created_at: passkey?.created_at, user_handle: passkey?.user_handle },
  };
}

/** Both in lines for people. */
export function heldLines(claims: ReceiptClaims, verified: VerifiedPasskey | undefined): string[] {
  const held = heldClaims(claims, verified);
  const { caller, authn, passkey, sub_id: subject } = claims;
  const isLinked = held !== undefined && verified?.pinned === "authn";
  const claimed = [
    ...(held === undefined
      ? [`approval ${claims.approval_id}, ${claims.status}`, `of ${subject.sub} at ${subject.iss}`]
      : []),
    `tool ${claims.tool}`,
    `on behalf of ${caller.sub} at ${caller.iss}`,
    ...(authn === undefined ? [] : [`decided by ${authn.sub} at ${authn.iss}`]),
    ...(isLinked ? [`that an admin linked ${subject.sub} at ${subject.iss} to that person`] : []),
    ...(claims.decided_at === undefined ? [] : [`at ${claims.decided_at}`]),
    ...(passkey === undefined ? [] : [`the passkey registered ${passkey.created_at}`]),
  ];
  return [...(held === undefined ? [] : linesOf(held)), `  claimed only       ${claimed.join("; ")}`];
}

function linesOf({ passkey, sub_id: subject, ...held }: NonNullable<ReturnType<typeof heldClaims>>): string[] {
  const { credential_id: id, owner, origin, iat } = passkey;
  return [
    `  held: passkey      ${id}, which the file has for ${owner.sub} at ${owner.iss}`,
    `  held: approval     ${held.approval_id}, asked by ${held.aud}`,
    `  held: of           ${subject.sub} at ${subject.iss}`,
    `  held: action       ${held.action_digest}`,
    `  held: decision     ${held.decision ?? "none"}, on the page ${held.view_digest ?? "none"}`,
    `  held: signed       at ${origin}, in answer to a question of ${new Date(iat * 1000).toISOString()}`,
  ];
}

function ownerOf({ sub_id, authn }: ReceiptClaims, verified: VerifiedPasskey | undefined) {
  if (!verified?.pinned) return undefined;
  const owner = verified.pinned === "authn" ? authn : sub_id;
  return owner && { iss: owner.iss, sub: owner.sub };
}

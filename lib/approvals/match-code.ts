import { isSameMac, mac } from "../secrets/mac";

/**
 * The two-digit confirmation code (10 to 99) of an approval: shown in the chat, typed on the page. Derived from the secret
 * and the id, so that no database row and no log holds it.
 */
export function matchCodeOf(tagKey: Uint8Array, approvalId: string): string {
  return String(10 + (mac(tagKey, ["match_code", approvalId]).readUInt32BE(0) % 90));
}

/** Whether `typed` is the approval's code; compared in constant time. */
export function isMatchCode(tagKey: Uint8Array, approvalId: string, typed: string): boolean {
  return isSameMac(Buffer.from(typed), Buffer.from(matchCodeOf(tagKey, approvalId)));
}

/**
 * Equal for an equal code of one person, so that the database keeps those that are pending apart; keyed, so that it does not tell the
 * code.
 */
export function matchTagOf(tagKey: Uint8Array, approvalId: string, subject: { iss: string; sub: string }): Buffer {
  return mac(tagKey, ["match_tag", subject.iss, subject.sub, matchCodeOf(tagKey, approvalId)]);
}

import type pg from "pg";
import type { SecretKeys, Secrets } from "../secrets/derive";
import { isSameMac, mac, macsOf } from "../secrets/mac";
import type { Subject } from "./approval";
import type { Tags } from "./tags";

/** What a code depends on. `matchTag` names the secret that it was made with; without one it is the current. */
export type Coded = { id: string; subject: Subject; matchTag: Uint8Array | null };

/**
 * The two-digit confirmation code (10 to 99) of an approval: shown in the chat, typed on the page. Derived from the secret and the id, so
 * that no database row and no log holds it. A rotation does not change it: it stays that of the secret which its tag was made with, and
 * there is none where the tag is of no secret in use.
 */
export function matchCodeOf(secrets: Secrets, approval: Coded): string | undefined {
  const { id, subject, matchTag } = approval;
  if (matchTag === null) return codeOf(secrets, id);
  const inUse = secrets.previous ? [secrets, secrets.previous] : [secrets];
  const keys = inUse.find((candidate) => isSameMac(tagOf(candidate, subject, codeOf(candidate, id)), matchTag));
  return keys && codeOf(keys, id);
}

/** Whether `typed` is the approval's code; compared in constant time. */
export function isMatchCode(secrets: Secrets, approval: Coded, typed: string): boolean {
  const code = matchCodeOf(secrets, approval);
  return code !== undefined && isSameMac(Buffer.from(typed), Buffer.from(code));
}

/**
 * The tags of a new approval's code: equal for an equal code of one person, so that the database keeps those that are pending apart; keyed,
 * so that they do not tell the code. The first is the one to store; another that is pending may have any of them.
 */
export function matchTagsOf(secrets: Secrets, approvalId: string, subject: Subject): Tags {
  return macsOf(secrets, "tag", partsOf(subject, codeOf(secrets, approvalId)));
}

/** The tags, in hex, of the codes that wait for this person now. */
export async function readTakenTags(db: Pick<pg.Pool, "query">, subject: Subject): Promise<Set<string>> {
  const { rows } = await db.query<{ tag: string }>(
    `SELECT encode("match_tag", 'hex') AS "tag" FROM "approval"
     WHERE "subject_iss" = $1 AND "subject_sub" = $2 AND "status" = 'pending' AND "match_tag" IS NOT NULL`,
    [subject.iss, subject.sub],
  );
  return new Set(rows.map(({ tag }) => tag));
}

function codeOf({ tag }: SecretKeys, approvalId: string): string {
  return String(10 + (mac(tag, ["match_code", approvalId]).readUInt32BE(0) % 90));
}

const tagOf = ({ tag }: SecretKeys, subject: Subject, code: string) => mac(tag, partsOf(subject, code));

const partsOf = ({ iss, sub }: Subject, code: string) => ["match_tag", iss, sub, code];

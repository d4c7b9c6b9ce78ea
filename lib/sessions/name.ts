import type { Secrets } from "../secrets/derive";
import { macsOf } from "../secrets/mac";

/**
 * How pages, forms and commands name a session: 16 characters of a keyed digest. The `sid` itself stays in the cookie and the database,
 * since it is what a session consists of.
 */
export function nameOfSession(secrets: Secrets, sid: string): string {
  return namesOf(secrets, sid)[0] ?? "";
}

/** Whether a form or command names this session, on a page of before a rotation of the secret too. */
export function isNameOfSession(secrets: Secrets, sid: string, name: string): boolean {
  return namesOf(secrets, sid).includes(name);
}

const namesOf = (secrets: Secrets, sid: string) =>
  macsOf(secrets, "tag", ["session", sid]).map((made) => made.toString("base64url", 0, 12));

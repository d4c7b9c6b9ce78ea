import { stepUpForAccount } from "../sessions/replace";
import { isRecent, type PersonSession } from "../sessions/session";

/**
 * Whether this session may add or remove passkeys of its identity, whose user has `count` of them over all identities, at `now` (the database's clock): within 300 s
 * of a sign-in, and where it has one, of a step-up for the account by one of them, of whichever identity, for an admin's link lets one identity decide for another. Else whoever drives a browser in which somebody has
 * just signed in could enrol a key of their own, and approve with it alone.
 */
export function mayChangePasskeys(session: PersonSession, count: number, now: Date): boolean {
  if (!isRecent(session, now)) return false;
  return count === 0 || (session.byPasskey === true && session.stepUpFor === stepUpForAccount);
}

import type { Service } from "@/lib/process";
import { claimsFromCookie } from "@/lib/sessions/cookie";
import { endSession } from "@/lib/sessions/end";
import type { SessionClaims } from "@/lib/sessions/session";
import { deviceCookie } from "@/lib/throttle/device-cookie";

/**
 * What follows every sign-in, whatever proved it: the session that this browser had before ends, so that whoever planted or copied its
 * cookie has nothing; and the browser is remembered as one of this person's. The cookies to set.
 */
export async function signedIn(service: Service, claims: SessionClaims, headers: Headers): Promise<string[]> {
  const before = await claimsFromCookie(service, headers);
  if (before && before.sid !== claims.sid) await endSession(service, before);
  return [await deviceCookie(service, claims.userId)];
}

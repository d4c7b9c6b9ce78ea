/** How far a provider's clock may be from the database's. */
const toleranceSeconds = 10;

/** `no_auth_time`: it did not say when; `not_asked_again`: it took an older sign-in for this one; `clock_ahead`: one that is yet to come. */
export type ProofFault = "no_auth_time" | "not_asked_again" | "clock_ahead";

/**
 * Why a sign-in at a provider does not prove that the person is there now, or undefined where it does: `auth_time` (seconds since the
 * epoch) lies between the start of the flow and now, by the database's clock, 10 s either way. That it was asked for with `prompt=login`
 * says nothing: providers exist that ignore it (OpenID Connect Core 1.0 section 3.1.2.1).
 */
export function whyNotFresh(authTime: number | undefined, startedAtMs: number, now: Date): ProofFault | undefined {
  if (authTime === undefined) return "no_auth_time";
  if (authTime < startedAtMs / 1000 - toleranceSeconds) return "not_asked_again";
  return authTime > now.getTime() / 1000 + toleranceSeconds ? "clock_ahead" : undefined;
}

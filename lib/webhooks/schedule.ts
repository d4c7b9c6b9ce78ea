/**
 * How long to wait after the `attempts`-th attempt has failed, or undefined where it was the last: ten attempts over three days, as
 * Standard Webhooks 1.0 proposes ("deliverability and reliability"), each delay up to a tenth longer, so that what failed together does not
 * come back together. `random` is in [0, 1). A `Retry-After` of the receiver makes it longer, up to a day, never shorter.
 */
export function nextDelaySeconds(attempts: number, random: number, retryAfterSeconds = 0): number | undefined {
  const scheduled = delaysSeconds[attempts - 1];
  if (scheduled === undefined) return undefined;
  return Math.max(scheduled * (1 + random / 10), Math.min(retryAfterSeconds, retryAfterMaxSeconds));
}

const minute = 60;
const hour = 3600;
const delaysSeconds = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
const retryAfterMaxSeconds = 24 * hour;

/** Attempts of a delivery, the first one and all that follow. */
export const attemptsMax = delaysSeconds.length + 1;

/** Without a success for this long an endpoint is disabled at its next failure: the schedule's length. */
export const failingMaxSeconds = 3 * 24 * hour;

/** Seconds that a `Retry-After` names (RFC 9110 section 10.2.3): a number of them, or an instant after `now`. 0 where it names none. */
export function retryAfterSeconds(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header);
  const at = Date.parse(header);
  return Number.isNaN(at) ? 0 : Math.max(0, (at - now.getTime()) / 1000);
}

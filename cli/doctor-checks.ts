import type { Check, CheckStatus } from "@/lib/doctor/check";

const words: Record<CheckStatus, string> = { ok: "ok", warning: "warning", failed: "FAILED" };

/** One check as a line: `ok`, `warning` or `FAILED`, its name, and what is so. */
export function checkLine({ name, status, message }: Check): string {
  return `${words[status].padEnd(8)}${name}: ${message}`;
}

/** Said before anything is written. */
export const writesWords =
  'Writes a scratch approval of a client "doctor", decides and ends it; its events stay in the history. --read-only leaves that out.';

import { Problem } from "../problem";
import type { MintVerdict } from "./insert";

type Refused = Exclude<MintVerdict, { verdict: "minted" | "code_taken" | "key_revoked" | "replay" | "live" }>;

/** The refusal that a verdict of the mint statement means to the caller, with the time to wait where there is one. */
export function mintRefusal(verdict: Refused): Problem {
  switch (verdict.verdict) {
    case "recently_declined":
      return new Problem("recently_declined", {
        retryAfterSeconds: secondsUntil(verdict.until, verdict.now),
        detail: "Do not ask again for the same action. The person can lift this on the page of the declined approval.",
      });
    case "mint_rate":
      return new Problem("mint_rate", {
        retryAfterSeconds: secondsUntil(new Date(verdict.oldestRecent.getTime() + 3_600_000), verdict.now),
      });
    case "too_many_pending":
      return new Problem("too_many_pending", { retryAfterSeconds: 30 });
    case "frozen":
      return new Problem("frozen", {
        detail: "This client may ask this person for nothing until the freeze is lifted.",
      });
    case "clock_skew":
      return new Problem("clock_skew", {
        detail: "The clocks of the service and of its database differ by more than 5 s.",
      });
    case "credential_changed":
      return new Problem("unauthorized");
    default:
      return verdict satisfies never;
  }
}

const secondsUntil = (at: Date, now: Date) => Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1000));

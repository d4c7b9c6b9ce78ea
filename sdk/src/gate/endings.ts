import { alreadyConsumedSchema, type StatusAnswer } from "../api-types";
import { CountersignError } from "../errors";
import { InexactValueError } from "../exact-json";
import type { Served } from "./mcp-call";
import { type Ending, type EndingFacts, endingText, isErrorAfter, type Locale } from "./texts";

/** Thrown where a guarded call ends without running the tool. */
export class NotRun extends Error {
  readonly ending: Ending;
  readonly facts: Omit<EndingFacts, "tool">;

  constructor(ending: Ending, facts: Omit<EndingFacts, "tool"> = {}) {
    super(ending);
    this.name = "NotRun";
    this.ending = ending;
    this.facts = facts;
  }
}

/** What the agent is told. Programs read the ending and the approval in `_meta`. `more`: the server's own words, after the fixed ones. */
export function endedCall(
  tool: string,
  { ending, facts }: NotRun,
  { locale, more }: { locale: Locale; more?: string | undefined },
): Served<never> {
  return {
    kind: "ended",
    isError: isErrorAfter(ending),
    text: endingText(ending, { tool, ...facts, more }, locale),
    meta: {
      "countersign/ending": ending,
      ...(facts.approvalId === undefined ? {} : { "countersign/approvalId": facts.approvalId }),
    },
  };
}

/** What kept a call from running, whatever was thrown; something unforeseen is `internal`, never a run (I13). */
export function toNotRun(error: unknown, approvalId?: string): NotRun {
  if (error instanceof NotRun) return error;
  if (error instanceof InexactValueError) {
    return new NotRun("unfit_arguments", {
      approvalId,
      pointer: error.pointer,
      detail: `This value ${error.problem}.`,
    });
  }
  if (error instanceof CountersignError) return endingOfError(error, approvalId);
  return new NotRun("internal", { approvalId });
}

/** Problem codes that are endings of their own, under the same name. */
const NAMED = new Set([
  "recently_declined",
  "tool_not_allowed",
  "issuer_not_allowed",
  "frozen",
  "too_many_pending",
  "mint_rate",
  "check_mismatch",
  "action_mismatch",
  "caller_mismatch",
  "stale",
  "lapsed",
  "unreachable",
] satisfies Ending[]);

const BY_CODE: Readonly<Record<string, Ending>> = {
  aborted: "interrupted",
  integrity_failed: "unverifiable",
  unauthorized: "not_authorized",
  missing_scope: "not_authorized",
  throttled: "not_authorized",
  not_found: "invalid_state",
  number_not_exact: "unfit_arguments",
  duplicate_key: "unfit_arguments",
  forbidden_key: "unfit_arguments",
  nul_character: "unfit_arguments",
  lone_surrogate: "unfit_arguments",
  too_deep: "unfit_arguments",
  arguments_too_large: "unfit_arguments",
  too_many_waits: "unreachable",
  secret_in_request: "secret_in_request",
};

function endingOfError(error: CountersignError, approvalId: string | undefined): NotRun {
  const { code, pointer, retryAfterSeconds, detail } = error;
  if (code === "already_consumed") {
    const { outcome, consumedAt } = alreadyConsumedSchema.safeParse(error.data).data ?? {};
    return new NotRun(`already_run_${outcome ?? "unknown"}`, { approvalId, ranAt: consumedAt ?? undefined });
  }
  const facts = { approvalId, pointer, retryAfterSeconds };
  if (isNamed(code)) return new NotRun(code, facts);
  const ending = BY_CODE[code] ?? (error.status === 0 || error.status >= 500 ? "unreachable" : "request_refused");
  // The code tells an operator what to look up; the detail is the service's own fixed words.
  return new NotRun(ending, { ...facts, detail: detail === undefined ? code : `${code}: ${detail}` });
}

function isNamed(code: string): code is Ending {
  return (NAMED as ReadonlySet<string>).has(code);
}

const WITHDRAWN: Readonly<Record<string, Ending>> = {
  client_declined: "withdrawn_client_declined",
  aborted: "withdrawn_aborted",
  superseded: "withdrawn_superseded",
  match_failed: "withdrawn_match_failed",
  frozen: "withdrawn_frozen",
  key_revoked: "withdrawn_key_revoked",
  taken_back: "withdrawn_taken_back",
};

/** The ending of an approval that is over and was not granted to this attempt; `reason` comes from its verified receipt. */
export function endingOfStatus(answer: StatusAnswer, reason: string | undefined): NotRun {
  const facts = { approvalId: answer.id, note: answer.note };
  switch (answer.status) {
    case "accepted":
      if (answer.next === "done")
        return new NotRun(`already_run_${answer.outcome ?? "unknown"}`, {
          approvalId: answer.id,
          ranAt: answer.consumedAt,
        });
      return new NotRun("lapsed", facts);
    case "declined":
      return new NotRun(reason === "not_requested" ? "not_requested" : "declined", facts);
    case "cancelled":
      return new NotRun("cancelled", facts);
    case "expired":
      return new NotRun("expired", facts);
    case "withdrawn":
      return new NotRun((reason === undefined ? undefined : WITHDRAWN[reason]) ?? "withdrawn", facts);
    case "pending":
      return new NotRun("internal", facts);
    default:
      return answer.status satisfies never;
  }
}

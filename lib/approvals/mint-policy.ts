import type { RegisteredKey } from "../clients/cache";
import { type Requirements, rulesFor, stricterRequirements } from "../clients/policy";
import { canonicalJson } from "../json/canonical";
import { Problem } from "../problem";
import { isShowable } from "../views/size";
import type { MintRequest } from "./mint-request";
import { requireNoSecrets } from "./require-no-secrets";

const argumentsMaxBytes = 65_536;

/** `stepUpSeconds`: how old a step-up for this very approval may be where `maxAuthAgeSeconds` is 0. */
export type Effective = Requirements & { ttlSeconds: number; actBySeconds: number; stepUpSeconds: number };

const stepUpSecondsMax = 300;

/**
 * What holds for this request: the stricter of what it asks and what the client's policy demands (I16), or the refusal.
 * Errors: `tool_not_allowed`, `issuer_not_allowed`, `approver_differs`, `check_mismatch`, `arguments_too_large`, `secret_in_request`.
 */
export function effectiveFor(key: RegisteredKey, request: MintRequest): Effective {
  const { policy } = key.client;
  requireTool(key, request.action.tool);
  if (!policy.issuers.includes(request.caller.iss))
    throw new Problem("issuer_not_allowed", {
      errors: [{ pointer: "/caller/iss", message: "is not an issuer of this client's policy" }],
    });
  requireSameSubject(request);
  requireChecks(request);
  if (Buffer.byteLength(canonicalJson(request.action.arguments)) > argumentsMaxBytes)
    throw new Problem("arguments_too_large", {
      errors: [{ pointer: "/action/arguments", message: `must be ${argumentsMaxBytes} bytes or less` }],
    });
  if (!isShowable(request.action.arguments))
    throw new Problem("arguments_too_large", {
      errors: [{ pointer: "/action/arguments", message: "are more than a person can be shown whole" }],
    });
  requireNoSecrets(policy, request);
  const rules = rulesFor(policy, request.action.tool);
  const requirements = stricterRequirements(rules, withoutAbsent(request.requirements ?? {}));
  return {
    ...requirements,
    ttlSeconds: Math.min(request.ttlSeconds ?? 300, rules.maxTtlSeconds),
    // Asking for 0 must not be weaker than the age that the policy allows (I16).
    stepUpSeconds: Math.min(rules.maxAuthAgeSeconds || stepUpSecondsMax, stepUpSecondsMax),
    actBySeconds: Math.min(request.actBySeconds ?? 300, rules.maxActBySeconds),
  };
}

/** The tool list of a key and of its client's policy; an empty list allows every tool. Errors: `tool_not_allowed`. */
export function requireTool(key: RegisteredKey, tool: string): void {
  const isAllowed = [key.tools, key.client.policy.tools].every((list) => list.length === 0 || list.includes(tool));
  if (!isAllowed)
    throw new Problem("tool_not_allowed", {
      errors: [{ pointer: "/action/tool", message: "is not a tool of this key and policy" }],
    });
}

function requireSameSubject({ subject, caller }: MintRequest): void {
  if (subject && (subject.iss !== caller.iss || subject.sub !== caller.sub))
    throw new Problem("approver_differs", { errors: [{ pointer: "/subject", message: "must be the caller" }] });
}

function requireChecks(request: MintRequest): void {
  const errors = (request.presentation.checks ?? []).flatMap((check, i) =>
    check.claimed === check.actual
      ? []
      : [{ pointer: `/presentation/checks/${i}`, message: "claimed and actual differ" }],
  );
  if (errors.length > 0) throw new Problem("check_mismatch", { errors });
}

function withoutAbsent(asked: NonNullable<MintRequest["requirements"]>): Partial<Requirements> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
}

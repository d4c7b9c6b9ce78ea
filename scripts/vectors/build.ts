import { decisionChallenge } from "@countersign/mcp/decision-challenge";
import { actionDigest, canonicalJson } from "@countersign/mcp/digest";
import { parseStrict } from "@/lib/json/parse-strict";
import type { JsonObject } from "@/lib/json/value";
import { challengeCases } from "./challenge-cases";
import { digestCases } from "./digest-cases";
import { refusalCases } from "./refusal-cases";

/** The files of `docs/vectors` by name, computed by the code that signs and verifies; what was written by hand is not used. */
export function buildVectors(): Record<string, string> {
  return {
    "action-digests.json": fileOf(digestCases.map(digestVector)),
    "refusals.json": fileOf(refusalCases.map(refusalVector)),
    "decision-challenges.json": fileOf(challengeCases.map(challengeVector)),
  };
}

function digestVector({ name, tool, argumentsText, salt }: (typeof digestCases)[number]) {
  const args = parseObject(argumentsText);
  // Piece by piece, since what stands around the arguments would take one of their 32 levels.
  const [argumentsJson, toolJson, saltJson] = [args, tool, salt].map(canonicalJson);
  return {
    name,
    tool,
    argumentsText,
    salt,
    canonicalText: `{"arguments":${argumentsJson},"salt":${saltJson},"tool":${toolJson}}`,
    digest: actionDigest({ tool, arguments: args, salt }),
  };
}

function refusalVector({ name, argumentsText, seenInValue }: (typeof refusalCases)[number]) {
  const parsed = parseStrict(argumentsText);
  if (parsed.ok) throw new Error(`not refused: ${name}`);
  const { code, pointer } = parsed.fault;
  return { name, argumentsText, code, pointer, seenInValue };
}

function challengeVector({ name, claims }: (typeof challengeCases)[number]) {
  const { subject, ...rest } = claims;
  const subId = { format: "iss_sub", iss: subject.iss, sub: subject.sub };
  const canonicalText = canonicalJson({ ctx: "countersign/decision/1", ...rest, sub_id: subId });
  return { name, claims, canonicalText, challenge: decisionChallenge(claims) };
}

function parseObject(text: string): JsonObject {
  const parsed = parseStrict(text);
  if (!parsed.ok) throw new Error(`refused: ${text}: ${parsed.fault.code}`);
  if (parsed.value === null || typeof parsed.value !== "object" || Array.isArray(parsed.value))
    throw new Error(`not an object: ${text}`);
  return parsed.value as JsonObject;
}

/** ASCII alone, so that no editor or transport alters what matters here. */
function fileOf(vectors: object[]): string {
  const text = JSON.stringify(vectors, null, 2);
  return `${text.replace(/[^\n -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)}\n`;
}

import { secretKinds } from "@countersign/mcp/secret-shapes";
import { z } from "zod";

/** `[A-Za-z0-9_.-]`, 1 to 128 characters. */
export const toolName = z.string().regex(/^[A-Za-z0-9_.-]{1,128}$/, "must be 1 to 128 of A-Z a-z 0-9 _ . -");

const toolRules = {
  maxAuthAgeSeconds: z.int().min(0).max(86_400),
  passkey: z.enum(["off", "required"]),
  matchCode: z.boolean(),
  maxTtlSeconds: z.int().min(10).max(86_400),
  maxActBySeconds: z.int().min(10).max(3_600),
};

const defaultRules = z.strictObject({
  maxAuthAgeSeconds: toolRules.maxAuthAgeSeconds.default(900),
  passkey: toolRules.passkey.default("off"),
  matchCode: toolRules.matchCode.default(false),
  maxTtlSeconds: toolRules.maxTtlSeconds.default(86_400),
  maxActBySeconds: toolRules.maxActBySeconds.default(3_600),
});

/** What an admin lets a client ask for (section 6). A client's request can only be stricter (I16). */
export const policySchema = z.strictObject({
  issuers: z.array(z.string().min(1).max(2_000)).min(1).max(20),
  /** Empty: every tool. */
  tools: z.array(toolName).max(500).default([]),
  default: defaultRules.prefault({}),
  perTool: z
    .array(
      z
        .strictObject({ tool: toolName, ...toolRules })
        .partial()
        .required({ tool: true }),
    )
    .max(500)
    .default([]),
  maxPendingPerSubject: z.int().min(1).max(1_000).default(5),
  maxMintsPerSubjectPerHour: z.int().min(1).max(100_000).default(30),
  declineCooldownSeconds: z.int().min(0).max(86_400).default(600),
  /** What may look like a secret in arguments and presentation; nothing may in what is kept for good. */
  allowedSecretKinds: z.array(z.enum(secretKinds)).max(secretKinds.length).default([]),
});

export type Policy = z.infer<typeof policySchema>;
export type ToolRules = z.infer<typeof defaultRules>;

/** The rules for one tool: its own where the policy names them, else the default. */
export function rulesFor(policy: Policy, tool: string): ToolRules {
  const own = policy.perTool.find((entry) => entry.tool === tool);
  const given = Object.fromEntries(
    Object.entries(own ?? {}).filter(([name, value]) => name !== "tool" && value !== undefined),
  );
  return { ...policy.default, ...given };
}

export type Requirements = { maxAuthAgeSeconds: number; passkey: "off" | "required"; matchCode: boolean };

/** What an absent requirement of a request means (section 6). */
const requirementDefaults: Requirements = { maxAuthAgeSeconds: 900, passkey: "off", matchCode: true };

/** The stricter of both, requirement by requirement (I16). */
export function stricterRequirements(rules: ToolRules, asked: Partial<Requirements>): Requirements {
  const wanted = { ...requirementDefaults, ...asked };
  return {
    maxAuthAgeSeconds: Math.min(rules.maxAuthAgeSeconds, wanted.maxAuthAgeSeconds),
    passkey: rules.passkey === "required" || wanted.passkey === "required" ? "required" : "off",
    matchCode: rules.matchCode || wanted.matchCode,
  };
}

import { z } from "zod";
import { APPROVAL_ID_PATTERN } from "./approval-id";
import type { Action } from "./digest";

/** A person at an issuer; both parts are compared as exact strings. */
export type Identity = { iss: string; sub: string };

/** Whose request runs, from the verified access token of the MCP call; `clientId` is the OAuth client of that token. */
export type Caller = Identity & { clientId?: string };

/** A text, or one for each language of the page. */
export type LocalText = string | { readonly en: string; readonly ja: string };

/** How the action is explained to the person; written by the MCP server's author, never by the model (but `modelNote`). */
export type Presentation = {
  /** What will happen, one line, at most 200 characters. */
  title: LocalText;
  /** Why, at most 300 characters. */
  purpose?: LocalText;
  /** Where to, e.g. "production CRM". */
  destination?: LocalText;
  /** The page says in a fixed sentence that it cannot be undone. */
  irreversible?: boolean;
  /** What decides, risky rows first; at most 20. */
  details?: readonly { label: LocalText; value: LocalText; risk?: boolean }[];
  /** What the model claimed beside what is so; any mismatch is refused with `check_mismatch`. */
  checks?: readonly { label: LocalText; claimed: Scalar | null; actual: Scalar | null }[];
  /** Text that the model wrote: shown apart, as unchecked. */
  modelNote?: string;
  /** Language of the prompt in the MCP client; the page follows the browser. */
  locale?: "en" | "ja";
  /** `false`: the title is erased with the arguments. */
  retainTitle?: boolean;
};

export type Scalar = string | number | boolean;

/** What the decision demands; the client's policy may only strengthen it. */
export type Requirements = {
  /** How old the sign-in may be; 0 asks for one for this very approval. */
  maxAuthAgeSeconds?: number;
  passkey?: "off" | "required";
  matchCode?: boolean;
};

/** Body of `POST /api/v1/approvals`. */
export type MintRequest = {
  caller: Caller;
  subject?: Identity;
  action: Action;
  presentation: Presentation;
  requirements?: Requirements;
  /** How long the person has to decide: 10…86400, default 300. */
  ttlSeconds?: number;
  /** How long an accepted approval can be consumed: 10…3600, default 300. */
  actBySeconds?: number;
  preconditions?: Readonly<Record<string, unknown>>;
  reuse?: "live";
  mcpClient?: { name: string; version?: string };
  metadata?: Readonly<Record<string, Scalar>>;
};

/** Body of `POST /api/v1/approvals/{id}/consume`. */
export type ConsumeRequest = {
  caller: Caller;
  /** 256 random bits for one attempt, base64url; the same for its retries, kept in memory only. */
  consumerToken: string;
  action: Action;
  preconditions?: Readonly<Record<string, unknown>>;
};

export type Outcome = "succeeded" | "failed" | "unknown";
export type WithdrawReason = "client_declined" | "aborted" | "superseded";

const statusSchema = z.enum(["pending", "accepted", "declined", "cancelled", "expired", "withdrawn"]);
const nextSchema = z.enum(["wait", "run", "stop", "done"]);
const outcomeSchema = z.enum(["succeeded", "failed", "unknown"]);
const approvalIdSchema = z.string().regex(APPROVAL_ID_PATTERN);
const identitySchema = z.looseObject({ iss: z.string(), sub: z.string() });

/** Answer to a mint. Answers are read loosely: a field that is not known here is passed over. */
export const mintAnswerSchema = z.looseObject({
  id: approvalIdSchema,
  status: statusSchema,
  next: nextSchema,
  createdAt: z.string(),
  expiresAt: z.string(),
  actionDigest: z.string(),
  /** Absent once the arguments were erased, like the two below. */
  salt: z.string().optional(),
  url: z.string(),
  matchCode: z.string().optional(),
  effectiveRequirements: z.looseObject({}).optional(),
  elicitation: z.looseObject({
    mode: z.literal("url"),
    url: z.url({ protocol: /^https?$/ }),
    message: z.string(),
  }),
  record: z.string().optional(),
  /** Words for the operator, such as `subject_never_signed_in`: minted, but perhaps nobody can open the link. */
  warnings: z.array(z.string()).optional(),
});

/** Where an approval stands. `next` is the one field that tells what to do. */
export const statusAnswerSchema = z.looseObject({
  id: approvalIdSchema,
  status: statusSchema,
  next: nextSchema,
  decision: z.enum(["accept", "decline", "cancel"]).optional(),
  reason: z.string().optional(),
  createdAt: z.string().optional(),
  actionDigest: z.string().optional(),
  /** Absent once the arguments were erased, like the requirements. */
  salt: z.string().optional(),
  effectiveRequirements: z.looseObject({}).optional(),
  decidedAt: z.string().optional(),
  consumedAt: z.string().optional(),
  note: z.string().optional(),
  actBy: z.string().optional(),
  consumed: z.unknown().optional(),
  outcome: outcomeSchema.optional(),
  subject: identitySchema,
  caller: identitySchema.extend({ clientId: z.string().optional() }),
  receipt: z.string().optional(),
});

export const consumeAnswerSchema = z.looseObject({
  granted: z.literal(true),
  replayed: z.boolean(),
  receipt: z.string(),
});

export type MintAnswer = z.infer<typeof mintAnswerSchema>;
export type StatusAnswer = z.infer<typeof statusAnswerSchema>;
export type ConsumeAnswer = z.infer<typeof consumeAnswerSchema>;
/** Figures of `already_consumed`. */
export const alreadyConsumedSchema = z.looseObject({
  consumedAt: z.string().nullish(),
  outcome: outcomeSchema.nullish(),
});

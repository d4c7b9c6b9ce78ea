import { z } from "@hono/zod-openapi";
import { statuses } from "@/lib/approvals/approval";
import { actionSchema, callerSchema, preconditionsSchema } from "@/lib/approvals/mint-request";
import { clientReasons } from "@/lib/approvals/withdraw";
import { toolName } from "@/lib/clients/policy";
import { problems } from "@/lib/problem";

const token = z.string().regex(/^[A-Za-z0-9_-]{43}$/, "must be 32 random bytes in base64url (43 characters)");
const instant = z.iso.datetime({ precision: 0 });
const status = z.enum(statuses);
const next = z.enum(["wait", "run", "stop", "done"]);
const outcome = z.enum(["succeeded", "failed", "unknown"]);
const subject = z.object({ iss: z.string(), sub: z.string() });

export const mintHeaders = z.object({
  "Idempotency-Key": z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, "must be 1 to 255 printable ASCII characters")
    .optional(),
});

export const waitQuery = z.strictObject({
  wait: z
    .string()
    .regex(/^([0-9]|[1-4][0-9]|5[0-5])$/, "must be a whole number from 0 to 55")
    .transform(Number)
    .optional(),
});

export const listQuery = z.strictObject({
  status: status.optional(),
  tool: toolName.optional(),
  cursor: z.string().max(1_000).optional(),
  limit: z
    .string()
    .regex(/^([1-9]|[1-9][0-9]|100)$/, "must be a whole number from 1 to 100")
    .transform(Number)
    .optional(),
});

export const consumeBody = z
  .strictObject({
    caller: callerSchema,
    consumerToken: token,
    preconditions: preconditionsSchema.optional(),
    action: actionSchema.optional(),
    actionDigest: z
      .string()
      .regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hex digits")
      .optional(),
  })
  .refine((body) => (body.action === undefined) !== (body.actionDigest === undefined), {
    path: ["action"],
    message: "exactly one of action and actionDigest must be there",
  });

export const outcomeBody = z.strictObject({
  consumerToken: token,
  outcome,
  code: z
    .string()
    .regex(/^[A-Za-z0-9_./-]{1,64}$/, "must be 1 to 64 of A-Z a-z 0-9 _ . / -")
    .optional(),
});

export const withdrawBody = z.strictObject({ reason: z.enum(clientReasons) });

const effectiveRequirements = z.object({
  maxAuthAgeSeconds: z.int(),
  passkey: z.enum(["off", "required"]),
  matchCode: z.boolean(),
  actBySeconds: z.int(),
  stepUpSeconds: z.int(),
});

export const mintAnswer = z.object({
  id: z.string(),
  status,
  next,
  createdAt: instant,
  expiresAt: instant,
  actionDigest: z.string(),
  salt: z.string().optional(),
  url: z.url(),
  matchCode: z.string().optional(),
  effectiveRequirements: effectiveRequirements.optional(),
  elicitation: z.object({ mode: z.literal("url"), url: z.url(), message: z.string() }),
  record: z.string().optional(),
  warnings: z.array(z.enum(["subject_never_signed_in"])).optional(),
});

export const statusAnswer = z.object({
  id: z.string(),
  status,
  next,
  createdAt: instant,
  expiresAt: instant,
  actionDigest: z.string(),
  salt: z.string().optional(),
  effectiveRequirements: effectiveRequirements.optional(),
  decision: z.enum(["accept", "decline", "cancel"]).optional(),
  reason: z.string().optional(),
  decidedAt: instant.optional(),
  note: z.string().optional(),
  actBy: instant.optional(),
  consumed: z.boolean().optional(),
  consumedAt: instant.optional(),
  outcome: outcome.optional(),
  outcomeCode: z.string().optional(),
  subject,
  caller: subject.extend({ clientId: z.string().optional() }),
  receipt: z.string().optional(),
});

export const consumeAnswer = z.object({ granted: z.literal(true), replayed: z.boolean(), receipt: z.string() });

export const listAnswer = z.object({
  approvals: z.array(
    z.object({ id: z.string(), status, next, tool: z.string(), createdAt: instant, expiresAt: instant, subject }),
  ),
  nextCursor: z.string().optional(),
});

/** RFC 9457, with our closed set of codes. */
export const problemAnswer = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  code: z.enum(Object.keys(problems) as [keyof typeof problems, ...(keyof typeof problems)[]]),
  instance: z.string(),
  detail: z.string().optional(),
  errors: z.array(z.object({ pointer: z.string(), message: z.string() })).optional(),
  consumedAt: z.string().optional(),
  outcome: outcome.nullable().optional(),
});

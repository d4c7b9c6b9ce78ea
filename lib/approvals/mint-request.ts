import { z } from "zod";
import { toolName } from "../clients/policy";
import type { JsonObject } from "../json/value";
import { isOneLine } from "../text/one-line";

const text = (max: number) => z.string().min(1).max(max);
/** One string, or one a language. */
const localised = <T extends z.ZodType<string>>(inner: T) => z.union([inner, z.strictObject({ en: inner, ja: inner })]);
const line = (max: number) => text(max).refine(isOneLine, "must be one visible line");
const scalar = z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()]);
const iss = text(2_000);
const sub = text(500);
/** Any JSON object; what is in it the strict parser has judged already. */
const jsonObject = z.looseObject({}).transform((value) => value as JsonObject);

export const callerSchema = z.strictObject({ iss, sub, clientId: text(2_000).optional() });
export const actionSchema = z.strictObject({ tool: toolName, arguments: jsonObject });
export const preconditionsSchema = jsonObject;

const presentation = z.strictObject({
  title: localised(line(200)),
  purpose: localised(text(300)).optional(),
  destination: localised(line(200)).optional(),
  irreversible: z.boolean().optional(),
  details: z
    .array(z.strictObject({ label: localised(line(100)), value: localised(text(2_000)), risk: z.boolean().optional() }))
    .max(20)
    .optional(),
  checks: z
    .array(z.strictObject({ label: localised(line(100)), claimed: scalar, actual: scalar }))
    .max(20)
    .optional(),
  modelNote: text(2_000).optional(),
  locale: z.enum(["en", "ja"]).optional(),
  retainTitle: z.boolean().optional(),
});

const metadata = z
  .record(
    z.string().regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "must be letters, digits, _ . -"),
    z.union([z.string().max(200), z.number(), z.boolean()]),
  )
  .refine((value) => Object.keys(value).length <= 10, "must have 10 members or fewer");

/** The body of `POST /api/v1/approvals` (section 6). Unknown fields are refused. */
export const mintRequestSchema = z.strictObject({
  caller: callerSchema,
  subject: z.strictObject({ iss, sub }).optional(),
  action: actionSchema,
  presentation,
  requirements: z
    .strictObject({
      maxAuthAgeSeconds: z.int().min(0).max(86_400),
      passkey: z.enum(["off", "required"]),
      matchCode: z.boolean(),
    })
    .partial()
    .optional(),
  ttlSeconds: z.int().min(10).max(86_400).optional(),
  actBySeconds: z.int().min(10).max(3_600).optional(),
  preconditions: preconditionsSchema.optional(),
  reuse: z.literal("live").optional(),
  mcpClient: z.strictObject({ name: text(200), version: text(100).optional() }).optional(),
  metadata: metadata.optional(),
});

export type MintRequest = z.infer<typeof mintRequestSchema>;
export type Locale = "en" | "ja";

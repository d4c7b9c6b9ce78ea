import { z } from "zod";
import type { JsonValue } from "../json/value";

export const recordTyp = "approval-record+jwt";
/** Raised when the page of the same record would show something else; older records keep their view. */
export const viewVersion = 1;

const identity = { iss: z.string(), sub: z.string() };

const scalar = z.union([z.string(), z.number(), z.boolean(), z.null()]);
/** A text is one string, or one for each locale. */
const localised = z.union([z.string(), z.strictObject({ en: z.string(), ja: z.string() })]);
const storedPresentation = z.strictObject({
  title: localised,
  purpose: localised.optional(),
  destination: localised.optional(),
  irreversible: z.boolean().optional(),
  details: z.array(z.strictObject({ label: localised, value: localised, risk: z.boolean().optional() })).optional(),
  checks: z.array(z.strictObject({ label: localised, claimed: scalar, actual: scalar })).optional(),
  modelNote: z.string().optional(),
});

export type Localised = z.infer<typeof localised>;

/** The claims of an approval record (section 7): the page shows nothing that is not in them. */
export const recordClaimsSchema = z.strictObject({
  iss: z.string(),
  aud: z.string(),
  jti: z.string(),
  client_id: z.string(),
  client_name: z.string(),
  caller: z.strictObject({ ...identity, clientId: z.string().optional() }),
  sub_id: z.strictObject({ format: z.literal("iss_sub"), ...identity }),
  action: z.strictObject({
    tool: z.string(),
    arguments: z.custom<{ [name: string]: JsonValue }>(
      (value) => typeof value === "object" && value !== null && !Array.isArray(value),
    ),
  }),
  presentation: storedPresentation,
  mcp_client: z.strictObject({ name: z.string(), version: z.string().optional() }).optional(),
  requirements: z.strictObject({
    maxAuthAgeSeconds: z.int(),
    passkey: z.enum(["off", "required"]),
    matchCode: z.boolean(),
    actBySeconds: z.int(),
    stepUpSeconds: z.int(),
  }),
  policy_version: z.int(),
  preconditions_digest: z.string().optional(),
  salt: z.string(),
  action_digest: z.string(),
  view_version: z.literal(viewVersion),
  iat: z.int(),
  exp: z.int(),
});

export type RecordClaims = z.infer<typeof recordClaimsSchema>;

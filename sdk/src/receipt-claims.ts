import { z } from "zod";
import { passkeyClaimSchema } from "./passkey-claim";

const instant = z.iso.datetime({ precision: 0 });
const identity = z.object({ iss: z.string().min(1), sub: z.string().min(1) });

const STATUS_OF = { accept: "accepted", decline: "declined", cancel: "cancelled" } as const;

/**
 * The claims of a receipt. Instants named `…_at` and `act_by` are RFC 3339 in UTC with whole seconds; `iat` and `auth_time`
 * are NumericDate (RFC 7519). Unknown claims are kept, so that a newer service stays verifiable.
 * `decision`, `decided_at` and `authn` are there when a person decided, and a decision and its status always agree.
 */
export const receiptClaimsSchema = z
  .looseObject({
    iss: z.string().min(1),
    /** The `clientId` of the MCP server. */
    aud: z.string().min(1),
    /** Who must decide (RFC 9493, format `iss_sub`). */
    sub_id: z.looseObject({ format: z.literal("iss_sub"), ...identity.shape }),
    /** The identity that signed in and decided, and by what right: itself, or a link made by an admin. */
    authn: z.looseObject({ ...identity.shape, via: z.string() }).optional(),
    jti: z.string().min(1),
    iat: z.number().int(),
    approval_id: z.string().min(1),
    /** When the approval was asked for; older receipts do not say. */
    asked_at: instant.optional(),
    status: z.enum(["accepted", "declined", "cancelled", "expired", "withdrawn"]),
    decision: z.enum(["accept", "decline", "cancel"]).optional(),
    reason: z.string().optional(),
    action_digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
    view_digest: z.string().optional(),
    locale: z.string().optional(),
    shown_at: instant.optional(),
    decided_at: instant.optional(),
    tool: z.string().min(1),
    caller: z.looseObject({ ...identity.shape, clientId: z.string().optional() }),
    auth_time: z.number().int().optional(),
    amr: z.array(z.string()).optional(),
    act_by: instant.optional(),
    policy_version: z.number().int(),
    /** Passkey evidence (contract section 7); only an accept has it. */
    passkey: passkeyClaimSchema.optional(),
  })
  .refine((claims) => claims.decision === undefined || STATUS_OF[claims.decision] === claims.status, {
    message: "decision and status disagree",
  })
  .refine((claims) => claims.status !== "accepted" || claims.decision === "accept", {
    message: "accepted without a decision",
  })
  .refine(
    (claims) => claims.decision === undefined || (claims.authn !== undefined && claims.decided_at !== undefined),
    {
      message: "a decision without the person or the instant",
    },
  )
  .refine(({ authn, sub_id }) => authn?.via !== "self" || (authn.iss === sub_id.iss && authn.sub === sub_id.sub), {
    message: "somebody else decided in their own right",
  });

export type ReceiptClaims = z.infer<typeof receiptClaimsSchema>;

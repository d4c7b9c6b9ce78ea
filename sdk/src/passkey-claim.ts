import { z } from "zod";

/** Bytes as base64url without padding, in the one spelling that an encoder writes (RFC 4648 section 5). */
export function base64urlSchema({ minBytes = 1, maxBytes }: { minBytes?: number; maxBytes: number }) {
  return z
    .string()
    .min(Math.ceil((minBytes * 4) / 3))
    .max(Math.ceil((maxBytes * 4) / 3))
    .refine((text) => Buffer.from(text, "base64url").toString("base64url") === text, {
      message: "not base64url without padding",
    });
}

const coordinate = base64urlSchema({ minBytes: 32, maxBytes: 32 });
const ec = { kty: z.literal("EC"), crv: z.literal("P-256"), x: coordinate, y: coordinate };
const okp = { kty: z.literal("OKP"), crv: z.literal("Ed25519"), x: coordinate };
// 2048 to 8192 bits; the exponent fits eight bytes.
const modulus = base64urlSchema({ minBytes: 256, maxBytes: 1024 });
const rsa = { kty: z.literal("RSA"), n: modulus, e: base64urlSchema({ maxBytes: 8 }) };

/** A public key as a JWK (RFC 7517, 7518 section 6, 8037 section 2) of one of the three kinds that passkeys have here. */
export const publicKeySchema = z.discriminatedUnion("kty", [z.object(ec), z.object(okp), z.object(rsa)]);
export type PasskeyPublicKey = z.infer<typeof publicKeySchema>;

/** The same in a receipt, where a member more would be a claim that nobody checks. */
const exactKeySchema = z.discriminatedUnion("kty", [z.strictObject(ec), z.strictObject(okp), z.strictObject(rsa)]);

/** A credential id has at most 1023 bytes (WebAuthn level 3, section 4). */
export const credentialIdSchema = base64urlSchema({ maxBytes: 1023 });

/**
 * The claim `passkey` of a receipt (contract section 7): the signature by a passkey over this decision, with all that is needed to
 * check it again. Binary members are base64url without padding.
 */
export const passkeyClaimSchema = z.looseObject({
  /** Which credential it was; a label, the signature is checked with `public_key`. */
  credential_id: credentialIdSchema,
  public_key: exactKeySchema,
  /** COSE algorithm (RFC 9053, RFC 8812): ES256, EdDSA with Ed25519, RS256. */
  alg: z.union([z.literal(-7), z.literal(-8), z.literal(-257)]),
  /** When the credential was registered; the service's word. */
  created_at: z.iso.datetime({ precision: 0 }),
  rp_id: z.string().min(1).max(253),
  /** Origin of the approval page. */
  origin: z.string().min(1).max(300),
  /** When the challenge was made, NumericDate; signed. */
  iat: z.number().int().nonnegative(),
  nonce: base64urlSchema({ minBytes: 16, maxBytes: 64 }),
  /** What the authenticator said whose credential it is; not signed. */
  user_handle: base64urlSchema({ maxBytes: 64 }).optional(),
  client_data_json: base64urlSchema({ maxBytes: 4096 }),
  authenticator_data: base64urlSchema({ minBytes: 37, maxBytes: 4096 }),
  signature: base64urlSchema({ maxBytes: 1024 }),
});

export type PasskeyClaim = z.infer<typeof passkeyClaimSchema>;

import { z } from "zod";

/** What the browser says of the moment, in the part that is signed (WebAuthn level 3, section 5.8.1). */
export type ClientData = z.infer<typeof schema>;

/** Reads `clientDataJSON` (base64url): undefined where it is none, or its challenge cannot be one of ours. */
export function readClientData(encoded: string): ClientData | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.from(encoded, "base64url"));
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Why this was not said to us, on our own page, about this challenge; undefined where it was. Our pages stand in nobody's frame. */
export function findClientDataFault(
  said: ClientData,
  expected: { type: "webauthn.create" | "webauthn.get"; challenge: string; origin: string },
): ClientDataFault | undefined {
  if (said.type !== expected.type) return "wrong_type";
  if (said.challenge !== expected.challenge) return "wrong_challenge";
  if (said.origin !== expected.origin) return "wrong_origin";
  return said.crossOrigin === true || said.topOrigin !== undefined ? "cross_origin" : undefined;
}

export type ClientDataFault = "wrong_type" | "wrong_challenge" | "wrong_origin" | "cross_origin";

const schema = z.looseObject({
  type: z.string(),
  challenge: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

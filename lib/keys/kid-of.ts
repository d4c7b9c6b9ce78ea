import { decodeProtectedHeader } from "jose";

/** The `kid` that a JWS names in its protected header, or undefined. Nothing is verified. */
export function kidOf(jws: string): string | undefined {
  try {
    const { kid } = decodeProtectedHeader(jws);
    return typeof kid === "string" ? kid : undefined;
  } catch {
    return undefined;
  }
}

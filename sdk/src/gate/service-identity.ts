import { decodeJwt } from "jose";
import { z } from "zod";
import { type Fetch, sendJson } from "../http";
import { remoteKeys } from "../jwks";
import { type ReceiptExpectation, type ReceiptVerdict, verifyReceipt } from "../receipt";
import { serviceOrigin } from "../service-url";

const metadataSchema = z.looseObject({ issuer: z.string().min(1) });
const TIMEOUT_MS = 10_000;

export type ServiceIdentityOptions = { url: string; issuer?: string; clientId?: string; fetch?: Fetch };
export type GateReceiptExpectation = Omit<ReceiptExpectation, "issuer" | "audience" | "keys">;

/** Verifies receipts of the one Countersign at `url`. */
export type ServiceIdentity = { verify(receipt: string, expected: GateReceiptExpectation): Promise<ReceiptVerdict> };

/**
 * Knows who signs the receipts: keys and (unless given) the issuer come from the well-known documents at the configured `url`,
 * over the same trusted channel as the API key. An audience that was not configured is learned from the first genuine receipt
 * for an approval of our own, and pinned from then on.
 */
export function createServiceIdentity(options: ServiceIdentityOptions): ServiceIdentity {
  const { fetch = globalThis.fetch } = options;
  const origin = serviceOrigin(options.url);
  const load = async (path: string): Promise<unknown> => {
    const { json } = await sendJson(fetch, { method: "GET", url: origin + path, timeoutMs: TIMEOUT_MS, attempts: 2 });
    return json;
  };
  const keys = remoteKeys({ load: () => load("/.well-known/jwks.json") });
  let issuer = options.issuer;
  let audience = options.clientId;

  return {
    async verify(receipt, expected) {
      try {
        issuer ??= metadataSchema.parse(await load("/.well-known/countersign")).issuer;
      } catch {
        return { ok: false, reason: "keys_unavailable" };
      }
      const pinned = audience ?? claimedAudience(receipt);
      if (pinned === undefined) return { ok: false, reason: "malformed" };
      const verdict = await verifyReceipt(receipt, { ...expected, issuer, audience: pinned, keys });
      if (verdict.ok) audience ??= pinned;
      return verdict;
    },
  };
}

function claimedAudience(receipt: string): string | undefined {
  try {
    const { aud } = decodeJwt(receipt);
    return typeof aud === "string" ? aud : undefined;
  } catch {
    return undefined;
  }
}

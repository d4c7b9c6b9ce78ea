import { createHash, verify } from "node:crypto";
import { z } from "zod";
import type { PasskeyClaim } from "./passkey-claim";
import { importKey } from "./passkey-key";

/** What is wrong with an assertion. */
export type AssertionFault =
  | "malformed"
  | "wrong_type"
  | "wrong_challenge"
  | "wrong_origin"
  | "cross_origin"
  | "wrong_rp_id"
  /** The authenticator did not ask for PIN or body, or for no touch at all. */
  | "not_verified_user"
  | "bad_key"
  | "bad_signature";

/**
 * What is wrong with a passkey's signature over `challenge` (WebAuthn level 3, section 7.2), or `undefined`: type, challenge, origin,
 * no frame of another site, relying party, user present and verified, and the signature by the key of the claim. The count of
 * signatures is not compared: offline there is nothing to compare it with.
 */
export function findAssertionFault(passkey: PasskeyClaim, challenge: string): AssertionFault | undefined {
  const clientData = Buffer.from(passkey.client_data_json, "base64url");
  const authData = Buffer.from(passkey.authenticator_data, "base64url");
  try {
    return (
      findClientDataFault(clientData, passkey.origin, challenge) ??
      findOriginFault(passkey) ??
      findAuthenticatorFault(authData, passkey.rp_id) ??
      findSignatureFault(passkey, Buffer.concat([authData, sha256(clientData)]))
    );
  } catch {
    return "malformed";
  }
}

/** Absent is the same as false (section 5.8.1): the page was no frame of another site's. */
const clientDataSchema = z.looseObject({
  type: z.string(),
  challenge: z.string(),
  origin: z.string(),
  crossOrigin: z.boolean().optional(),
  topOrigin: z.string().optional(),
});

function findClientDataFault(clientData: Buffer, origin: string, challenge: string): AssertionFault | undefined {
  const said = clientDataSchema.parse(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(clientData)));
  if (said.type !== "webauthn.get") return "wrong_type";
  if (said.challenge !== challenge) return "wrong_challenge";
  if (said.origin !== origin) return "wrong_origin";
  return said.crossOrigin === true || said.topOrigin !== undefined ? "cross_origin" : undefined;
}

/**
 * The page's origin is secure, and the relying party's id is its host, or a domain above it with a dot: never a top-level domain (section
 * 5.1.3; HTML, "origin"). Other public suffixes ("co.uk") are refused by browsers alone: their list changes.
 */
function findOriginFault({ origin, rp_id }: PasskeyClaim): AssertionFault | undefined {
  const { protocol, hostname, origin: exact } = new URL(origin);
  if (exact !== origin) return "wrong_origin";
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  if (protocol !== "https:" && !(protocol === "http:" && isLocal)) return "wrong_origin";
  // An address is never a relying party; what ends in a label without a letter is an address, or a part of one.
  const isDomain = /^(?:[a-z0-9_-]+\.)*[a-z0-9-]*[a-z][a-z0-9-]*$/.test(rp_id);
  const isAbove = (rp_id.includes(".") || rp_id === "localhost") && hostname.endsWith(`.${rp_id}`);
  return isDomain && (hostname === rp_id || isAbove) ? undefined : "wrong_rp_id";
}

/** Section 6.1: the hash of the relying party's id (32 bytes), flags (1), the count of signatures (4), then what the flags say. */
function findAuthenticatorFault(authData: Buffer, rpId: string): AssertionFault | undefined {
  const flags = authData.readUInt8(32);
  if (!authData.subarray(0, 32).equals(sha256(Buffer.from(rpId)))) return "wrong_rp_id";
  if ((flags & FLAG.userPresent) === 0 || (flags & FLAG.userVerified) === 0) return "not_verified_user";
  if ((flags & FLAG.backedUp) !== 0 && (flags & FLAG.backupEligible) === 0) return "malformed";
  const hasMore = (flags & (FLAG.attestedCredential | FLAG.extensions)) !== 0;
  return hasMore === authData.length > 37 ? undefined : "malformed";
}

const FLAG = {
  userPresent: 0x01,
  userVerified: 0x04,
  backupEligible: 0x08,
  backedUp: 0x10,
  attestedCredential: 0x40,
  extensions: 0x80,
} as const;

function findSignatureFault(passkey: PasskeyClaim, signed: Buffer): AssertionFault | undefined {
  const key = importKey(passkey.public_key, passkey.alg);
  if (typeof key === "string") return "bad_key";
  const hash = passkey.alg === -8 ? null : "sha256";
  return verify(hash, signed, key, Buffer.from(passkey.signature, "base64url")) ? undefined : "bad_signature";
}

function sha256(bytes: Uint8Array): Buffer {
  return createHash("sha256").update(bytes).digest();
}

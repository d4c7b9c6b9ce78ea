import { createHash, generateKeyPairSync, type JsonWebKey, type KeyObject, randomBytes, sign } from "node:crypto";
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { type CborValue, writeCbor } from "./write-cbor";

/** COSE algorithms that it speaks: ES256, EdDSA (Ed25519) and RS256. */
export type CoseAlgorithm = -7 | -8 | -257;

/** Bits of the flags byte (WebAuthn level 3, section 6.1). */
export const FLAG = { userPresent: 0x01, userVerified: 0x04, attested: 0x40, extensions: 0x80 } as const;

export type AuthenticatorOptions = {
  rpId: string;
  /** Where the browser says it is. */
  origin: string;
  /** ES256 where left out. */
  alg?: CoseAlgorithm;
};

/** What an answer says otherwise than an honest browser and authenticator would. */
export type AnswerOverrides = {
  origin?: string;
  rpId?: string;
  type?: string;
  /** The whole flags byte; user present and verified where left out. */
  flags?: number;
  signCount?: number;
  /** Members put into, or over, the client data. */
  clientData?: Record<string, unknown>;
};

/** `userHandle` (base64url) takes the place of the registered one; null leaves it out. */
export type GetOverrides = AnswerOverrides & { userHandle?: string | null };

export type SoftwareAuthenticator = {
  /** base64url. */
  credentialId: string;
  alg: CoseAlgorithm;
  publicKey: JsonWebKey;
  privateKey: KeyObject;
  /** What `navigator.credentials.create()` gives, with attestation "none". `challenge` and `userHandle` are base64url. */
  register(challenge: string, userHandle: string, overrides?: AnswerOverrides): RegistrationResponseJSON;
  /** What `navigator.credentials.get()` gives for a base64url `challenge`. */
  get(challenge: string, overrides?: GetOverrides): AuthenticationResponseJSON;
};

/** An authenticator with one resident credential, its key made by node:crypto. It asks nobody: the test is its person. */
export function createAuthenticator(options: AuthenticatorOptions): SoftwareAuthenticator {
  const { alg = -7 } = options;
  const { publicKey, privateKey } = makeKeyPair(alg);
  const jwk = publicKey.export({ format: "jwk" });
  const id = randomBytes(32);
  const credentialId = id.toString("base64url");
  let registeredHandle: string | undefined;
  const common = { id: credentialId, rawId: credentialId, type: "public-key", clientExtensionResults: {} } as const;
  return {
    credentialId,
    alg,
    publicKey: jwk,
    privateKey,
    register(challenge, userHandle, overrides = {}) {
      registeredHandle = userHandle;
      const flags = FLAG.userPresent | FLAG.userVerified | FLAG.attested;
      const key = writeCbor(coseKey(alg, jwk));
      const attested = Buffer.concat([Buffer.alloc(16), uint16(id.length), id, key]);
      const authData = Buffer.concat([authenticatorData(options.rpId, flags, overrides), attested]);
      const attestation = new Map<string, CborValue>([
        ["fmt", "none"],
        ["attStmt", new Map()],
        ["authData", authData],
      ]);
      return {
        ...common,
        response: {
          clientDataJSON: clientData("webauthn.create", challenge, options.origin, overrides).toString("base64url"),
          attestationObject: Buffer.from(writeCbor(attestation)).toString("base64url"),
          transports: ["internal"],
        },
      };
    },
    get(challenge, overrides = {}) {
      const data = clientData("webauthn.get", challenge, options.origin, overrides);
      const authData = authenticatorData(options.rpId, FLAG.userPresent | FLAG.userVerified, overrides);
      const userHandle = overrides.userHandle === undefined ? registeredHandle : overrides.userHandle;
      return {
        ...common,
        response: {
          clientDataJSON: data.toString("base64url"),
          authenticatorData: authData.toString("base64url"),
          signature: signAssertion(alg, privateKey, authData, data).toString("base64url"),
          ...(typeof userHandle === "string" ? { userHandle } : {}),
        },
      };
    },
  };
}

/** What an authenticator signs (WebAuthn level 3, section 6.3.3): its data, and the hash of the browser's. */
export function signAssertion(alg: CoseAlgorithm, key: KeyObject, authData: Uint8Array, data: Uint8Array): Buffer {
  const signed = Buffer.concat([authData, createHash("sha256").update(data).digest()]);
  return sign(alg === -8 ? null : "sha256", signed, key);
}

function makeKeyPair(alg: CoseAlgorithm): { publicKey: KeyObject; privateKey: KeyObject } {
  if (alg === -7) return generateKeyPairSync("ec", { namedCurve: "P-256" });
  if (alg === -8) return generateKeyPairSync("ed25519");
  return generateKeyPairSync("rsa", { modulusLength: 2048 });
}

/** RFC 9053 section 7 and RFC 8230 section 4. */
function coseKey(alg: CoseAlgorithm, { x = "", y = "", n = "", e = "" }: JsonWebKey): Map<number, CborValue> {
  const bytes = (text: string) => Buffer.from(text, "base64url");
  const parts: Record<CoseAlgorithm, [number, CborValue][]> = {
    [-7]: [
      [1, 2],
      [3, alg],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    [-8]: [
      [1, 1],
      [3, alg],
      [-1, 6],
      [-2, bytes(x)],
    ],
    [-257]: [
      [1, 3],
      [3, alg],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  };
  return new Map(parts[alg]);
}

function clientData(type: string, challenge: string, origin: string, overrides: AnswerOverrides): Buffer {
  const said = { type: overrides.type ?? type, challenge, origin: overrides.origin ?? origin, crossOrigin: false };
  return Buffer.from(JSON.stringify({ ...said, ...overrides.clientData }));
}

function authenticatorData(rpId: string, flags: number, overrides: AnswerOverrides): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(overrides.flags ?? flags);
  head.writeUInt32BE(overrides.signCount ?? 0, 1);
  return Buffer.concat([
    createHash("sha256")
      .update(overrides.rpId ?? rpId)
      .digest(),
    head,
  ]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

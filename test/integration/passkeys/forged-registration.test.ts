import { type JsonWebKey, randomBytes } from "node:crypto";
import type { RegistrationResponseJSON } from "@simplewebauthn/server";
import { decodeAttestationObject } from "@simplewebauthn/server/helpers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readPasskeysOfUser } from "@/lib/passkeys/passkey";
import { askToRegister, registerPasskey } from "@/lib/passkeys/register";
import type { PersonSession } from "@/lib/sessions/session";
import { addPerson, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { authenticatorFor, steppedUp } from "@/test/support/registering";
import type { CoseAlgorithm } from "@/test/support/software-authenticator";
import { type CborValue, writeCbor } from "@/test/support/write-cbor";

let t: TestService;
let session: PersonSession;

beforeAll(async () => {
  t = await createTestService();
  ({ session } = await signIn(t.service, await addPerson(t.service), steppedUp));
});
afterAll(() => t.stop());

/** Flags, counter and the hash of the party (WebAuthn level 3, section 6.1), the AAGUID, and the length of the id (section 6.5.1). */
const idStart = 37 + 16 + 2;
const idBytes = 32;

type Forged = { alg?: CoseAlgorithm; key?: Map<number, CborValue>; attestedId?: Uint8Array };

/** What an authenticator answers to a question of the service, with another key or credential id in the part that it vouches for. */
async function register({ alg = -7, key, attestedId }: Forged, sent: Partial<RegistrationResponseJSON> = {}) {
  const asked = await askToRegister(t.service, session, "Phone");
  if (asked.kind !== "question") throw new Error(`asked in vain: ${asked.kind}`);
  const { challenge, user } = asked.question;
  const answer = authenticatorFor(t.service, alg).register(challenge, user.id);
  const genuine = decodeAttestationObject(
    new Uint8Array(Buffer.from(answer.response.attestationObject, "base64url")),
  ).get("authData");
  const authData = Buffer.concat([
    genuine.subarray(0, idStart),
    attestedId ?? genuine.subarray(idStart, idStart + idBytes),
    key ? writeCbor(key) : genuine.subarray(idStart + idBytes),
  ]);
  const attestation = new Map<string, CborValue>([
    ["fmt", "none"],
    ["attStmt", new Map()],
    ["authData", authData],
  ]);
  const attestationObject = Buffer.from(writeCbor(attestation)).toString("base64url");
  const forged = { ...answer, ...sent, response: { ...answer.response, attestationObject } };
  return registerPasskey(t.service, session, { answer: JSON.stringify(forged), name: "Phone" });
}

const bytes = (text = "") => Buffer.from(text, "base64url");
const ec = (x: Uint8Array, y: Uint8Array): [number, CborValue][] => [
  [1, 2],
  [3, -7],
  [-1, 1],
  [-2, x],
  [-3, y],
];
const okp = (x: Uint8Array): [number, CborValue][] => [
  [1, 1],
  [3, -8],
  [-1, 6],
  [-2, x],
];
const rsa = (n: Uint8Array, e: Uint8Array): [number, CborValue][] => [
  [1, 3],
  [3, -257],
  [-1, n],
  [-2, e],
];

/** A genuine key, of which one part is replaced. */
const keyOf = (alg: CoseAlgorithm): JsonWebKey => authenticatorFor(t.service, alg).publicKey;
const modulus = (topByte: number) => {
  const n = bytes(keyOf(-257).n);
  n.writeUInt8(topByte, 0);
  return n;
};
const f4 = Uint8Array.of(1, 0, 1);

describe("a passkey is not registered", () => {
  const weak: Record<string, () => { alg: CoseAlgorithm; key: [number, CborValue][] }> = {
    "P-256, no point of the curve": () => ({ alg: -7, key: ec(bytes(keyOf(-7).x), randomBytes(32)) }),
    "Ed25519, of order 1: under it there are signatures that nobody made": () => ({
      alg: -8,
      key: okp(Buffer.from(`01${"00".repeat(31)}`, "hex")),
    }),
    "Ed25519, not the one encoding of its point": () => ({
      alg: -8,
      key: okp(Buffer.from(`f0${"ff".repeat(30)}7f`, "hex")),
    }),
    "RSA, with 2047 bits": () => ({ alg: -257, key: rsa(modulus(0x7f), f4) }),
    "RSA, with exponent 1: every message is its own signature": () => ({
      alg: -257,
      key: rsa(modulus(0xff), Uint8Array.of(1)),
    }),
    "RSA, with an even exponent": () => ({ alg: -257, key: rsa(modulus(0xff), Uint8Array.of(1, 0, 0)) }),
  };
  for (const [what, forge] of Object.entries(weak))
    it(`with a key that no verifier of a receipt takes: ${what}`, async () => {
      const { alg, key } = forge();
      expect(await register({ alg, key: new Map(key) })).toEqual({ kind: "refused" });
      expect(await readPasskeysOfUser(t.service.prisma, t.service.secrets, session.userId)).toEqual([]);
    });

  it("under another id than the authenticator vouches for, or under two: nobody takes an id that is another's", async () => {
    const attestedId = randomBytes(idBytes);
    expect(await register({ attestedId })).toEqual({ kind: "refused" });
    const other = randomBytes(idBytes).toString("base64url");
    expect(await register({}, { id: other, rawId: other })).toEqual({ kind: "refused" });
    expect(await register({}, { rawId: other })).toEqual({ kind: "refused" });
    expect(await readPasskeysOfUser(t.service.prisma, t.service.secrets, session.userId)).toEqual([]);
  });
});

it("what is put together like the refused ones, but of genuine parts, is registered: none of them fails for its form", async () => {
  const { x, y } = keyOf(-7);
  for (const [alg, key] of [
    [-7, ec(bytes(x), bytes(y))],
    [-8, okp(bytes(keyOf(-8).x))],
    [-257, rsa(modulus(0xff), f4)],
  ] as const)
    expect([alg, await register({ alg, key: new Map(key) })]).toMatchObject([alg, { kind: "registered" }]);
});

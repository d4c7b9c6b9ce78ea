import { createHash, createPublicKey, generateKeyPairSync, type JsonWebKey, randomBytes, verify } from "node:crypto";
import { localKeys, verifyReceipt } from "@countersign/mcp";
import { createSigner } from "@countersign/mcp/fake/approval";
import { findKeyFault } from "@countersign/mcp/passkey-key";
import { describe, expect, it } from "vitest";
import { type CoseAlgorithm, createAuthenticator, signAssertion } from "../../support/software-authenticator";
import { AUDIENCE, acceptClaims, type Claims, evidenceOf, ISSUER, ORIGIN, RP_ID } from "./evidence";

/** y of the points of small order, least byte first and without the sign of x; the last two are 0 and 1 written as p and p + 1. */
const smallOrder = [
  ["order 1", `01${"00".repeat(31)}`],
  ["order 2", `ec${"ff".repeat(30)}7f`],
  ["order 4", "00".repeat(32)],
  ["order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ["order 8, the others", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"],
  ["order 4, not canonical", `ed${"ff".repeat(30)}7f`],
  ["order 1, not canonical", `ee${"ff".repeat(30)}7f`],
] as const;

/** Both encodings of each y; of x = 0 the second is not canonical. */
const encodings = smallOrder.flatMap(([name, hex]) => {
  const [plain, signed] = [Buffer.from(hex, "hex"), Buffer.from(hex, "hex")];
  signed.writeUInt8(signed.readUInt8(31) | 0x80, 31);
  return [[name, plain] as const, [`${name}, with the sign of x`, signed] as const];
});

/** R = (0, 1), S = 0: made by nobody. */
const nobodys = Buffer.concat([Buffer.from(`01${"00".repeat(31)}`, "hex"), Buffer.alloc(32)]);

const okp = (x: Uint8Array) => ({ kty: "OKP", crv: "Ed25519", x: Buffer.from(x).toString("base64url") });

/** The verdict on a genuine receipt whose evidence has `changed` laid over it. */
async function judge(changed: (claims: Claims, passkey: Claims) => Claims) {
  const signer = await createSigner("key-1");
  const claims = acceptClaims();
  const passkey = evidenceOf(createAuthenticator({ rpId: RP_ID, origin: ORIGIN }), claims);
  const jws = await signer.sign({ ...claims, passkey: { ...passkey, ...changed(claims, passkey) } });
  const keys = await localKeys({ keys: [signer.publicJwk] });
  return verifyReceipt(jws, { issuer: ISSUER, audience: AUDIENCE, keys });
}

const bytes = (text: unknown) => Buffer.from(String(text), "base64url");

const signedBytes = (passkey: Claims) =>
  Buffer.concat([
    bytes(passkey["authenticator_data"]),
    createHash("sha256").update(bytes(passkey["client_data_json"])).digest(),
  ]);

describe("a key that a passkey may have", () => {
  it.each<CoseAlgorithm>([-7, -8, -257])("is one that an authenticator makes (COSE %s)", (alg) => {
    const { publicKey } = createAuthenticator({ rpId: RP_ID, origin: ORIGIN, alg });
    expect(findKeyFault(publicKey, alg)).toBeUndefined();
    for (const other of [-7, -8, -257].filter((one) => one !== alg)) {
      expect(findKeyFault(publicKey, other)).toBe("wrong_alg");
    }
    expect(findKeyFault(publicKey, -999)).toBe("wrong_alg");
  });

  it("is any that Ed25519 makes", () => {
    for (let made = 0; made < 200; made += 1) {
      expect(findKeyFault(generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" }), -8)).toBeUndefined();
    }
  });

  it.each([
    undefined,
    null,
    "key",
    {},
    { kty: "oct", k: "AAAA" },
    { kty: "EC", crv: "P-384", x: "AAAA", y: "AAAA" },
    okp(Buffer.alloc(31, 7)),
  ])("is not %j", (jwk) => {
    expect(findKeyFault(jwk, -7)).toBe("malformed");
  });

  it("is not a point off P-256, or off its field", () => {
    const { publicKey } = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
    expect(findKeyFault({ ...publicKey, y: publicKey.x }, -7)).toBe("no_point");
    expect(findKeyFault({ ...publicKey, x: Buffer.alloc(32, 0xff).toString("base64url") }, -7)).toBe("no_point");
    const zero = Buffer.alloc(32).toString("base64url");
    expect(findKeyFault({ ...publicKey, x: zero, y: zero }, -7)).toBe("no_point");
  });
});

describe("an Ed25519 key of small order", () => {
  it("has fourteen encodings", () => {
    expect(new Set(encodings.map(([, encoding]) => encoding.toString("hex"))).size).toBe(14);
  });

  it.each(encodings)("is refused: %s, under which what nobody signed verifies", (_, encoding) => {
    const key = createPublicKey({ key: okp(encoding), format: "jwk" });
    const messages = Array.from({ length: 2000 }, (_, index) => Buffer.from(`message ${index}`));
    expect(messages.some((message) => verify(null, message, key, nobodys))).toBe(true);
    expect(findKeyFault(okp(encoding), -8)).toBe("small_order");
  });

  it("I17: makes no evidence, though its signature verifies", async () => {
    const encoding = Buffer.from(smallOrder[0][1], "hex");
    const verdict = await judge((_, passkey) => {
      const key = createPublicKey({ key: okp(encoding), format: "jwk" });
      expect(verify(null, signedBytes(passkey), key, nobodys)).toBe(true);
      return { alg: -8, public_key: okp(encoding), signature: nobodys.toString("base64url") };
    });
    expect(verdict).toMatchObject({ ok: false, reason: "bad_evidence", fault: "bad_key" });
  });

  it("is not the only one that is refused: a y of p or more is no encoding (RFC 8032 section 5.1.3)", () => {
    for (let least = 0xef; least <= 0xff; least += 1) {
      const encoding = Buffer.from(`${least.toString(16)}${"ff".repeat(30)}7f`, "hex");
      expect(findKeyFault(okp(encoding), -8), encoding.toString("hex")).toBe("no_point");
    }
  });
});

describe("an RSA key", () => {
  const rsa = (modulusLength: number, publicExponent = 65_537) =>
    generateKeyPairSync("rsa", { modulusLength, publicExponent }).publicKey.export({ format: "jwk" });
  const withExponent = (jwk: JsonWebKey, e: number[]) => ({ ...jwk, e: Buffer.from(e).toString("base64url") });
  const sound = rsa(2048);

  it.each([[[1]], [[2]], [[4]], [[1, 0, 0]]])("with the exponent %j is refused", (e) => {
    expect(findKeyFault(withExponent(sound, e), -257)).toBe("weak_rsa");
  });

  it("with the exponent 3 is taken", () => {
    expect(findKeyFault(rsa(2048, 3), -257)).toBeUndefined();
  });

  it("of fewer than 2048 bits is refused, however it is written", () => {
    expect(findKeyFault(rsa(1024), -257)).toBe("malformed");
    const bits = Buffer.from(String(sound.n), "base64url");
    bits.writeUInt8(0x7f, 0);
    expect(findKeyFault({ ...sound, n: bits.toString("base64url") }, -257)).toBe("weak_rsa");
    bits.writeUInt8(0, 0);
    expect(findKeyFault({ ...sound, n: bits.toString("base64url") }, -257)).toBe("weak_rsa");
  });

  it("I17: makes no evidence with exponent 1, though what anybody can write is its signature", async () => {
    const jwk = withExponent(sound, [1]);
    const verdict = await judge((_, passkey) => {
      const signature = paddedHash(signedBytes(passkey));
      const key = createPublicKey({ key: jwk, format: "jwk" });
      expect(verify("sha256", signedBytes(passkey), key, signature)).toBe(true);
      return { alg: -257, public_key: jwk, signature: signature.toString("base64url") };
    });
    expect(verdict).toMatchObject({ ok: false, reason: "bad_evidence", fault: "bad_key" });
  });
});

describe("client data", () => {
  it("that is no UTF-8 is refused, though it was signed", async () => {
    const { alg, privateKey, publicKey } = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
    const judgeWith = (byte: number) =>
      judge((_, passkey) => {
        const said = JSON.parse(bytes(passkey["client_data_json"]).toString()) as Claims;
        const data = Buffer.from(JSON.stringify({ ...said, note: "?" }));
        data[data.indexOf("?")] = byte;
        const signature = signAssertion(alg, privateKey, bytes(passkey["authenticator_data"]), data);
        const signed = { client_data_json: data.toString("base64url"), signature: signature.toString("base64url") };
        return { public_key: publicKey, ...signed };
      });
    expect(await judgeWith(0x21)).toMatchObject({ ok: true });
    expect(await judgeWith(0xff)).toMatchObject({ ok: false, reason: "bad_evidence", fault: "malformed" });
  });

  it("of random bytes never throws", async () => {
    for (const length of [1, 40, 400]) {
      const verdict = await judge(() => ({ client_data_json: randomBytes(length).toString("base64url") }));
      expect(verdict).toMatchObject({ ok: false, reason: "bad_evidence", fault: "malformed" });
    }
  });
});

/** EMSA-PKCS1-v1_5 of a SHA-256 (RFC 8017 section 9.2) for 2048 bits: what an RSA signature is once it is opened. */
function paddedHash(message: Uint8Array): Buffer {
  const info = Buffer.from("3031300d060960864801650304020105000420", "hex");
  const hash = createHash("sha256").update(message).digest();
  const fill = Buffer.alloc(256 - 3 - info.length - hash.length, 0xff);
  return Buffer.concat([Uint8Array.of(0, 1), fill, Uint8Array.of(0), info, hash]);
}

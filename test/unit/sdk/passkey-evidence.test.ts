import { generateKeyPairSync, randomBytes } from "node:crypto";
import { localKeys, type ReceiptExpectation, verifyReceipt } from "@countersign/mcp";
import { createSigner, type Signer } from "@countersign/mcp/fake/approval";
import { beforeAll, describe, expect, it } from "vitest";
import {
  type CoseAlgorithm,
  createAuthenticator,
  FLAG,
  type GetOverrides,
  signAssertion,
} from "../../support/software-authenticator";
import { AUDIENCE, acceptClaims, at, type Claims, evidenceOf, ISSUER, ORIGIN, pinOf, RP_ID } from "./evidence";

const alice = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
const subject = { iss: "https://as.example.com", sub: "alice" };
const linked = { iss: "https://idp.example.net", sub: "a-17" };

let signer: Signer;
let expected: ReceiptExpectation;

beforeAll(async () => {
  signer = await createSigner("key-1");
  expected = { issuer: ISSUER, audience: AUDIENCE, keys: await localKeys({ keys: [signer.publicJwk] }) };
});

/** The verdict on a receipt with these claims, signed with the service's own key. */
const judge = async (claims: Claims, more: Partial<ReceiptExpectation> = {}) =>
  verifyReceipt(await signer.sign(claims), { ...expected, ...more });

/** The same for an accept with a passkey's evidence; `changed` is laid over it after it was signed. */
const judgeEvidence = async (changed: Claims = {}, overrides: GetOverrides & { signed?: Claims } = {}) => {
  const claims = acceptClaims();
  return judge({ ...claims, passkey: { ...evidenceOf(alice, claims, overrides), ...changed } });
};

describe("a receipt with a passkey's evidence", () => {
  it.each<CoseAlgorithm>([-7, -8, -257])(
    "verifies where the passkey signed this very accept (COSE %s)",
    async (alg) => {
      const authenticator = createAuthenticator({ rpId: RP_ID, origin: ORIGIN, alg });
      const claims = acceptClaims();
      const verdict = await judge({ ...claims, passkey: evidenceOf(authenticator, claims) }, { passkey: "required" });
      expect(verdict).toMatchObject({
        ok: true,
        passkey: { credentialId: authenticator.credentialId, pinned: false },
        claims: { passkey: { alg } },
      });
    },
  );

  it("a receipt without any stays valid, and says so, unless one is required", async () => {
    expect(await judge(acceptClaims())).toMatchObject({ ok: true, passkey: undefined });
    expect(await judge(acceptClaims(), { passkey: "required" })).toEqual({
      ok: false,
      reason: "missing_evidence",
      kid: "key-1",
    });
  });

  it("a decline never needs one: it verifies where one is required for accepts", async () => {
    const declined = acceptClaims({ status: "declined", decision: "decline", act_by: undefined });
    expect(await judge(declined, { passkey: "required" })).toMatchObject({ ok: true, passkey: undefined });
  });

  it.each([
    ["decline", { status: "declined", decision: "decline" }],
    ["cancel", { status: "cancelled", decision: "cancel" }],
    ["withdrawal", { status: "withdrawn", decision: undefined }],
    ["expiry", { status: "expired", decision: undefined }],
    ["accept of no view", { view_digest: undefined }],
  ])("evidence on a %s is refused", async (_, end) => {
    const claims = acceptClaims();
    const verdict = await judge({ ...claims, ...end, passkey: evidenceOf(alice, claims) });
    expect(verdict).toMatchObject({ ok: false, reason: "bad_evidence", fault: "not_an_accept" });
  });

  it.each<[string, string, Claims]>([
    ["approval", "wrong_challenge", { approval_id: "apr_11111111111111111111111111" }],
    ["action", "wrong_challenge", { action_digest: `sha256:${"ef".repeat(32)}` }],
    ["view", "wrong_challenge", { view_digest: `sha256:${"ef".repeat(32)}` }],
    ["person", "wrong_challenge", { sub_id: { format: "iss_sub", iss: subject.iss, sub: "bob" } }],
    [
      "issuer of the person",
      "wrong_challenge",
      { sub_id: { format: "iss_sub", iss: "https://x.example", sub: "alice" } },
    ],
    ["service", "wrong_challenge", { iss: "https://other.example.com" }],
    ["client", "wrong_challenge", { aud: "cli_other" }],
  ])("an assertion for another %s is refused, even under the service's own signature", async (_, fault, other) => {
    const verdict = await judgeEvidence({}, { signed: acceptClaims(other) });
    expect(verdict).toMatchObject({ ok: false, reason: "bad_evidence", fault });
  });

  it.each<[string, string, GetOverrides]>([
    ["a registration", "wrong_type", { type: "webauthn.create" }],
    ["a payment", "wrong_type", { type: "payment.get" }],
    ["another origin", "wrong_origin", { origin: "https://approve.example.org" }],
    ["the same host without TLS", "wrong_origin", { origin: "http://approve.example.com" }],
    ["another port", "wrong_origin", { origin: `${ORIGIN}:8443` }],
    ["another relying party", "wrong_rp_id", { rpId: "approve.example.com" }],
    ["another site's frame", "cross_origin", { clientData: { crossOrigin: true } }],
    ["a frame whose top is named", "cross_origin", { clientData: { topOrigin: ORIGIN } }],
    ["no answer to whether it is a frame", "malformed", { clientData: { crossOrigin: "no" } }],
    ["a touch without PIN or body", "not_verified_user", { flags: FLAG.userPresent }],
    ["nobody present", "not_verified_user", { flags: FLAG.userVerified }],
    ["a backup of what cannot be backed up", "malformed", { flags: 0x15 }],
    ["extensions that are not there", "malformed", { flags: 0x85 }],
    [
      "another challenge beside",
      "wrong_challenge",
      { clientData: { challenge: randomBytes(32).toString("base64url") } },
    ],
  ])("an assertion with %s is refused: %s", async (_, fault, overrides) => {
    expect(await judgeEvidence({}, overrides)).toMatchObject({ ok: false, reason: "bad_evidence", fault });
  });

  it.each<[string, number]>([
    ["synced passkeys", 0x1d],
    ["passkeys that could be synced", 0x0d],
  ])("%s verify", async (_, flags) => {
    expect(await judgeEvidence({}, { flags })).toMatchObject({ ok: true });
  });

  it("client data without the answer about frames, or with members of a newer browser, verifies", async () => {
    const clientData = { crossOrigin: undefined, other_keys_can_be_added_here: "see the specification" };
    expect(await judgeEvidence({}, { clientData })).toMatchObject({ ok: true });
  });

  it("a member that a newer service adds is kept", async () => {
    expect(await judgeEvidence({ transports: ["internal"] })).toMatchObject({
      ok: true,
      claims: { passkey: { transports: ["internal"] } },
    });
  });

  it.each<[string, string, Claims]>([
    ["a passkey registered after the page was shown", "late_credential", { created_at: at(1) }],
    ["a passkey registered in the second in which the page was shown", "late_credential", { created_at: at(0) }],
    ["a passkey registered after the challenge was made", "late_credential", { created_at: at(11) }],
    ["a passkey registered in the second in which it was asked for", "late_credential", { created_at: at(-20) }],
    ["the nonce of another challenge", "wrong_challenge", { nonce: randomBytes(16).toString("base64url") }],
    ["the instant of another challenge", "wrong_challenge", { iat: Date.parse(at(9)) / 1000 }],
    ["a challenge older than its lifetime", "wrong_time", { iat: Date.parse(at(-200)) / 1000 }],
    ["a challenge made after the decision", "wrong_time", { iat: Date.parse(at(100)) / 1000 }],
    ["a host that is not the relying party's", "wrong_origin", { origin: "https://example.com.evil.example" }],
    ["another algorithm's name", "bad_key", { alg: -8 }],
    ["an algorithm that nobody has", "malformed", { alg: -999 }],
    ["a point that is not on the curve", "bad_key", { public_key: { ...alice.publicKey, x: `B${"A".repeat(41)}E` } }],
    [
      "a key of another kind",
      "bad_key",
      { public_key: createAuthenticator({ rpId: RP_ID, origin: ORIGIN, alg: -8 }).publicKey },
    ],
    [
      "another key of its kind",
      "bad_signature",
      { public_key: createAuthenticator({ rpId: RP_ID, origin: ORIGIN }).publicKey },
    ],
    ["a private key", "malformed", { public_key: { ...alice.publicKey, d: randomBytes(32).toString("base64url") } }],
    ["a nonce that could be guessed", "malformed", { nonce: "AAAA" }],
    ["padded base64url", "malformed", { nonce: "AAAAAAAAAAAAAAAAAAAAAA==" }],
    ["base64url in another spelling", "malformed", { nonce: "AAAAAAAAAAAAAAAAAAAAAB" }],
    ["authenticator data that is cut", "malformed", { authenticator_data: "AAAA" }],
    ["client data that is no JSON", "malformed", { client_data_json: "AAAA" }],
    ["client data without end", "malformed", { client_data_json: "A".repeat(8000) }],
    ["no signature", "malformed", { signature: undefined }],
    ["an empty signature", "malformed", { signature: "" }],
  ])("evidence with %s is refused: %s", async (_, fault, changed) => {
    expect(await judgeEvidence(changed)).toMatchObject({ ok: false, reason: "bad_evidence", fault });
  });

  it("evidence that is no object is refused", async () => {
    expect(await judge({ ...acceptClaims(), passkey: null })).toMatchObject({ ok: false, reason: "bad_evidence" });
    expect(await judge({ ...acceptClaims(), passkey: [] })).toMatchObject({ ok: false, reason: "bad_evidence" });
  });

  it("a weak RSA key is refused, its signature notwithstanding", async () => {
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const claims = acceptClaims();
    const passkey = evidenceOf(alice, claims);
    const bytes = (name: string) => Buffer.from(String(passkey[name]), "base64url");
    const signature = signAssertion(-257, privateKey, bytes("authenticator_data"), bytes("client_data_json"));
    const weak = {
      alg: -257,
      public_key: publicKey.export({ format: "jwk" }),
      signature: signature.toString("base64url"),
    };
    expect(await judge({ ...claims, passkey: { ...passkey, ...weak } })).toMatchObject({ reason: "bad_evidence" });
  });
});

describe("what came first", () => {
  const judgeDated = async (createdAt: string, dates: Claims) => {
    const claims = acceptClaims({ asked_at: undefined, shown_at: undefined, ...dates });
    return judge({ ...claims, passkey: { ...evidenceOf(alice, claims), created_at: createdAt } });
  };

  it.each<[string, string, Claims]>([
    ["before the challenge", at(9), {}],
    ["before the page", at(-1), { shown_at: at(0) }],
    ["before it was asked for", at(-21), { asked_at: at(-20), shown_at: at(0) }],
    ["before it was asked for in the second of the page", at(-1), { asked_at: at(0), shown_at: at(0) }],
    ["before it was asked for by a process whose clock is ahead", at(-1), { asked_at: at(30), shown_at: at(0) }],
  ])("a passkey registered a second %s counts", async (_, createdAt, dates) => {
    expect(await judgeDated(createdAt, dates)).toMatchObject({ ok: true });
  });

  it.each<[string, string, Claims]>([
    ["the challenge was made", at(10), {}],
    ["the page was shown", at(0), { shown_at: at(0) }],
    ["it was asked for", at(-20), { asked_at: at(-20), shown_at: at(0) }],
    ["it was asked for, where the page is not dated", at(-20), { asked_at: at(-20) }],
  ])("one registered in the very second in which %s does not", async (_, createdAt, dates) => {
    expect(await judgeDated(createdAt, dates)).toMatchObject({ reason: "bad_evidence", fault: "late_credential" });
  });

  it("a page that was shown before it was asked for is none", async () => {
    const verdict = await judgeDated(at(-3600), { asked_at: at(31), shown_at: at(0) });
    expect(verdict).toMatchObject({ reason: "bad_evidence", fault: "wrong_time" });
  });

  it("an instant that is none makes the receipt none", async () => {
    for (const asked_at of ["yesterday", at(-20).replace("Z", "+01:00"), 1_793_872_780, null])
      expect(await judgeDated(at(-3600), { asked_at })).toMatchObject({ reason: "bad_claims" });
  });
});

describe("the twin of an ECDSA signature", () => {
  it("says the same of the same decision, and of no other", async () => {
    const claims = acceptClaims();
    const passkey = evidenceOf(alice, claims);
    const twin = { ...passkey, signature: twinOf(String(passkey["signature"])) };
    expect(twin.signature).not.toBe(passkey["signature"]);
    expect(await judge({ ...claims, passkey: twin })).toMatchObject({ ok: true });
    const other = { ...claims, action_digest: `sha256:${"ef".repeat(32)}` };
    expect(await judge({ ...other, passkey: twin })).toMatchObject({ ok: false, fault: "wrong_challenge" });
  });
});

describe("where the page was", () => {
  const judgeAt = async (rpId: string, origin: string, pinned?: string) => {
    const authenticator = createAuthenticator({ rpId, origin });
    const claims = acceptClaims();
    const passkey = { ...evidenceOf(authenticator, claims), rp_id: rpId, origin };
    return judge({ ...claims, passkey }, pinned === undefined ? {} : { origin: pinned });
  };

  it.each([
    ["example.com", "https://example.com"],
    ["example.com", "https://a.b.example.com:8443"],
    ["localhost", "http://localhost:3000"],
    ["localhost", "http://approve.localhost:3000"],
    ["approve.internal", "https://approve.internal"],
    ["localhost", "https://localhost"],
    ["approve", "https://approve"],
  ])("%s may be the relying party of %s", async (rpId, origin) => {
    expect(await judgeAt(rpId, origin)).toMatchObject({ ok: true });
  });

  it.each([
    ["example.com", "http://example.com", "wrong_origin"],
    ["example.com", "https://example.com/", "wrong_origin"],
    ["example.com", "https://EXAMPLE.com", "wrong_origin"],
    ["example.com", "https://a@example.com", "wrong_origin"],
    ["example.com", "null", "malformed"],
    ["example.com", "https://notexample.com", "wrong_rp_id"],
    ["approve.example.com", "https://example.com", "wrong_rp_id"],
    ["127.0.0.1", "https://127.0.0.1", "wrong_rp_id"],
    ["0.1", "https://127.0.0.1", "wrong_rp_id"],
    ["[::1]", "https://[::1]", "wrong_rp_id"],
    ["example.com.", "https://example.com", "wrong_rp_id"],
    ["com", "https://example.com", "wrong_rp_id"],
    ["internal", "https://approve.internal", "wrong_rp_id"],
    ["a.evillocalhost", "http://a.evillocalhost", "wrong_origin"],
    ["evillocalhost", "http://evillocalhost", "wrong_origin"],
    ["localhost", "https://evillocalhost", "wrong_rp_id"],
    [".com", "https://example.com", "wrong_rp_id"],
  ])("%s is not the relying party of %s: %s", async (rpId, origin, fault) => {
    expect(await judgeAt(rpId, origin)).toMatchObject({ ok: false, reason: "bad_evidence", fault });
  });

  it("a pinned origin is the only one", async () => {
    expect(await judgeAt(RP_ID, ORIGIN, ORIGIN)).toMatchObject({ ok: true });
    expect(await judgeAt(RP_ID, ORIGIN, "https://example.com")).toMatchObject({ ok: false, fault: "wrong_origin" });
  });
});

describe("whose passkey it was", () => {
  const judgePinned = async (credentials: ReceiptExpectation["credentials"], changed: Claims = {}) => {
    const claims = acceptClaims(changed);
    return judge({ ...claims, passkey: evidenceOf(alice, claims) }, credentials ? { credentials } : {});
  };
  const own = { authn: { ...subject, via: "self" } };

  it("a passkey that is pinned for the subject is known to be theirs", async () => {
    expect(await judgePinned([pinOf(alice, subject)], own)).toMatchObject({ ok: true, passkey: { pinned: "subject" } });
  });

  it("one that is pinned for the linked identity is known to be that one's", async () => {
    expect(await judgePinned([pinOf(alice, linked)])).toMatchObject({ ok: true, passkey: { pinned: "authn" } });
  });

  it("I17: with the service's signing key alone nobody can put another passkey in", async () => {
    const bob = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
    const sameKey = { ...pinOf(alice, subject), publicKey: pinOf(bob, subject).publicKey };
    const otherId = { ...pinOf(alice, subject), credentialId: bob.credentialId };
    const sameId = { ...pinOf(bob, subject), credentialId: alice.credentialId };
    for (const credentials of [
      [],
      [pinOf(bob, subject)],
      [sameKey],
      [otherId],
      [sameId],
      [pinOf(alice, { ...subject, sub: "bob" })],
    ])
      expect(await judgePinned(credentials)).toEqual({ ok: false, reason: "unpinned_credential", kid: "key-1" });
  });

  it("a right that nobody knows makes nobody else's passkey count", async () => {
    for (const via of ["other_link", "admin", "ADMIN_LINK", ""]) {
      const authn = { ...linked, via };
      expect(await judgePinned([pinOf(alice, linked)], { authn })).toMatchObject({ reason: "unpinned_credential" });
      expect(await judgePinned([pinOf(alice, subject)], { authn })).toMatchObject({ passkey: { pinned: "subject" } });
    }
  });

  it("with `pinned: subject` the linked identity's does not count, and without a list nobody's", async () => {
    const judgeSubject = async (credentials: ReceiptExpectation["credentials"]) => {
      const claims = acceptClaims();
      const receipt = { ...claims, passkey: evidenceOf(alice, claims) };
      return judge(receipt, { pinned: "subject", ...(credentials ? { credentials } : {}) });
    };
    const [theirs, own] = [pinOf(alice, linked), pinOf(alice, subject)];
    expect(await judgeSubject([theirs, own])).toMatchObject({ ok: true, passkey: { pinned: "subject" } });
    for (const credentials of [[theirs], [], undefined])
      expect(await judgeSubject(credentials)).toMatchObject({ ok: false, reason: "unpinned_credential" });
    expect(await judge(acceptClaims(), { pinned: "subject" })).toMatchObject({ ok: true, passkey: undefined });
  });

  it("RSA and Ed25519 keys are compared too", async () => {
    for (const alg of [-8, -257] as const) {
      const [mine, other] = [1, 2].map(() => createAuthenticator({ rpId: RP_ID, origin: ORIGIN, alg }));
      if (mine === undefined || other === undefined) throw new Error("unreachable");
      const claims = acceptClaims();
      const receipt = { ...claims, passkey: evidenceOf(mine, claims) };
      const pin = pinOf(mine, subject);
      expect(await judge(receipt, { credentials: [pin] })).toMatchObject({ ok: true });
      for (const publicKey of [other, alice].map((authenticator) => pinOf(authenticator, subject).publicKey))
        expect(await judge(receipt, { credentials: [{ ...pin, publicKey }] })).toMatchObject({ ok: false });
    }
  });

  it("a list does not ask for a passkey: an accept without one verifies, and says so", async () => {
    expect(await judge(acceptClaims(), { credentials: [] })).toMatchObject({ ok: true, passkey: undefined });
  });
});

/** The order of the base point of P-256 (FIPS 186-5): with s, order − s verifies too. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** DER of { r, order − s } for the DER of { r, s }, all base64url. */
function twinOf(signature: string): string {
  const der = Buffer.from(signature, "base64url");
  const r = der.subarray(2, 4 + der.readUInt8(3));
  const s = BigInt(`0x${der.subarray(r.length + 4).toString("hex")}`);
  const digits = (order - s).toString(16);
  const bytes = Buffer.from(digits.padStart(digits.length + (digits.length % 2), "0"), "hex");
  // The shortest form of a positive number: a zero in front where the first bit would be its sign.
  const twin = bytes.readUInt8(0) > 0x7f ? Buffer.concat([Uint8Array.of(0), bytes]) : bytes;
  const body = Buffer.concat([r, Uint8Array.of(2, twin.length), twin]);
  return Buffer.concat([Uint8Array.of(0x30, body.length), body]).toString("base64url");
}

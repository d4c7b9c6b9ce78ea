import { localKeys, type ReceiptExpectation, verifyReceipt } from "@countersign/mcp";
import {
  createSigner,
  type FakeApproval,
  newApprovalId,
  receiptClaims,
  type Signer,
} from "@countersign/mcp/fake/approval";
import { CompactSign, exportSPKI, SignJWT } from "jose";
import { beforeAll, describe, expect, it } from "vitest";

const ISSUER = "https://countersign.example.com";
const AUDIENCE = "cli_crm";

const approval: FakeApproval = {
  id: newApprovalId(),
  status: "accepted",
  decision: "accept",
  caller: { iss: "https://as.example.com", sub: "alice", clientId: "chat-app" },
  action: { tool: "delete_project", arguments: {} },
  salt: "s",
  actionDigest: `sha256:${"ab".repeat(32)}`,
  shown: "",
  preconditions: "",
  title: "",
  lapsed: false,
  createdAt: "",
  expiresAt: "",
};

const claims = receiptClaims(approval, ISSUER, AUDIENCE);
let signer: Signer;
let other: Signer;
let expected: ReceiptExpectation;

beforeAll(async () => {
  signer = await createSigner("key-1");
  other = await createSigner("key-2");
  const keys = await localKeys({ keys: [signer.publicJwk] });
  expected = { issuer: ISSUER, audience: AUDIENCE, keys, approvalId: approval.id, decision: "accept" };
});

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

describe("verifying a receipt", () => {
  it("I17: a genuine one gives its claims", async () => {
    const verdict = await verifyReceipt(await signer.sign(claims), expected);
    expect(verdict).toEqual({ ok: true, kid: "key-1", claims });
  });

  it("claims of a newer service are kept", async () => {
    const verdict = await verifyReceipt(await signer.sign({ ...claims, assurance: { level: 3 } }), expected);
    expect(verdict).toMatchObject({ ok: true, claims: { assurance: { level: 3 } } });
  });

  it("one signed by another implementation's JWT builder verifies too", async () => {
    const jws = await new SignJWT(claims)
      .setProtectedHeader({ alg: "Ed25519", typ: "approval-receipt+jwt", kid: "key-1" })
      .sign(signer.privateKey);
    expect(await verifyReceipt(jws, expected)).toMatchObject({ ok: true });
  });

  const attacks: [string, string, () => Promise<string> | string][] = [
    [
      "alg none",
      "wrong_alg",
      () => `${base64url({ alg: "none", typ: "approval-receipt+jwt", kid: "key-1" })}.${base64url(claims)}.`,
    ],
    [
      "HS256 with the public key as its secret",
      "wrong_alg",
      async () =>
        await new CompactSign(Buffer.from(JSON.stringify(claims)))
          .setProtectedHeader({ alg: "HS256", typ: "approval-receipt+jwt", kid: "key-1" })
          .sign(Buffer.from(await exportSPKI(signer.publicKey))),
    ],
    [
      "EdDSA, the older name of the algorithm",
      "wrong_alg",
      async () => await swapHeader(await signer.sign(claims), { alg: "EdDSA" }),
    ],
    ["the type of a record", "wrong_typ", async () => await signer.sign(claims, { typ: "approval-record+jwt" })],
    ["the type of any JWT", "wrong_typ", async () => await signer.sign(claims, { typ: "JWT" })],
    ["no type", "wrong_typ", async () => await signer.sign(claims, { typ: undefined })],
    [
      "a type with a media type's prefix",
      "wrong_typ",
      async () => await signer.sign(claims, { typ: "application/approval-receipt+jwt" }),
    ],
    [
      "a critical header",
      "critical_header",
      async () => await swapHeader(await signer.sign(claims), { crit: ["exp"], exp: 1 }),
    ],
    [
      "a critical header that the library knows",
      "critical_header",
      async () => await signer.sign(claims, { b64: true, crit: ["b64"] }),
    ],
    ["an unknown kid", "unknown_key", async () => await other.sign(claims)],
    ["no kid", "unknown_key", async () => await signer.sign(claims, { kid: undefined })],
    ["another key under a known kid", "bad_signature", async () => await other.sign(claims, { kid: "key-1" })],
    [
      "its own key in the header",
      "bad_signature",
      async () => await other.sign(claims, { kid: "key-1", jwk: other.publicJwk }),
    ],
    ["another issuer", "wrong_issuer", async () => await signer.sign({ ...claims, iss: `${ISSUER}/` })],
    ["another audience", "wrong_audience", async () => await signer.sign({ ...claims, aud: "cli_other" })],
    ["a list of audiences", "bad_claims", async () => await signer.sign({ ...claims, aud: [AUDIENCE] })],
    ["another approval", "wrong_approval", async () => await signer.sign({ ...claims, approval_id: newApprovalId() })],
    [
      "a decline",
      "wrong_decision",
      async () => await signer.sign({ ...claims, decision: "decline", status: "declined" }),
    ],
    ["accepted as a decline", "bad_claims", async () => await signer.sign({ ...claims, decision: "decline" })],
    ["declined as an accept", "bad_claims", async () => await signer.sign({ ...claims, status: "declined" })],
    [
      "another person in their own right",
      "bad_claims",
      async () => await signer.sign({ ...claims, authn: { ...approval.caller, sub: "mallory", via: "self" } }),
    ],
    [
      "another issuer's person in their own right",
      "bad_claims",
      async () => await signer.sign({ ...claims, authn: { iss: ISSUER, sub: "alice", via: "self" } }),
    ],
    ["expired as an accept", "bad_claims", async () => await signer.sign({ ...claims, status: "expired" })],
    [
      "a withdrawal",
      "wrong_decision",
      async () => await signer.sign({ ...claims, decision: undefined, status: "withdrawn" }),
    ],
    ["no JWS", "malformed", () => "receipt"],
    ["nothing", "malformed", () => ""],
    ["JSON serialization", "malformed", async () => JSON.stringify({ payload: "", signatures: [] })],
    ["a payload that is no JSON", "bad_claims", async () => await signText("accept")],
    ["a payload that is no UTF-8", "bad_claims", async () => await signBytes(notUtf8({ ...claims, jti: "rct_?" }))],
    ["too long a text", "malformed", async () => await signer.sign({ ...claims, filler: "x".repeat(70_000) })],
  ];

  it.each(attacks)("refuses %s: %s", async (_, reason, forge) => {
    expect(await verifyReceipt(await forge(), expected)).toMatchObject({ ok: false, reason });
  });

  it("refuses every claim that was changed after signing", async () => {
    const [header, , signature] = (await signer.sign(claims)).split(".");
    for (const name of Object.keys(claims)) {
      const { [name]: claim, ...rest } = claims;
      const changed = { ...rest, [name]: typeof claim === "number" ? claim + 1 : `${String(claim)}x` };
      const verdict = await verifyReceipt(`${header}.${base64url(changed)}.${signature}`, expected);
      expect(verdict, name).toMatchObject({ ok: false, reason: "bad_signature" });
    }
  });

  it.each([
    "iss",
    "aud",
    "sub_id",
    "jti",
    "iat",
    "approval_id",
    "status",
    "action_digest",
    "tool",
    "caller",
    "policy_version",
  ])("refuses a genuine one without %s", async (name) => {
    const { [name]: _, ...rest } = claims;
    expect(await verifyReceipt(await signer.sign(rest), expected)).toMatchObject({ ok: false, reason: "bad_claims" });
  });

  it.each([
    ["actionDigest", { actionDigest: `sha256:${"cd".repeat(32)}` }, "wrong_action"],
    ["tool", { tool: "update_project" }, "wrong_tool"],
    ["subject's sub", { subject: { iss: "https://as.example.com", sub: "bob" } }, "wrong_subject"],
    ["subject's iss", { subject: { iss: "https://as.example.org", sub: "alice" } }, "wrong_subject"],
  ])("refuses one that does not say the expected %s", async (_, more, reason) => {
    expect(await verifyReceipt(await signer.sign(claims), { ...expected, ...more })).toMatchObject({
      ok: false,
      reason,
    });
  });

  it("cannot judge when the keys cannot be had", async () => {
    const keys = () => Promise.reject(new Error("down"));
    const verdict = await verifyReceipt(await signer.sign(claims), { ...expected, keys });
    expect(verdict).toEqual({ ok: false, reason: "keys_unavailable", kid: "key-1" });
  });
});

const signText = (text: string) => signBytes(Buffer.from(text));

/** The JSON of a value with its question mark made a byte that UTF-8 does not have. */
function notUtf8(value: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(value));
  bytes[bytes.indexOf("?")] = 0xff;
  return bytes;
}

async function signBytes(bytes: Uint8Array): Promise<string> {
  return await new CompactSign(bytes)
    .setProtectedHeader({ alg: "Ed25519", typ: "approval-receipt+jwt", kid: "key-1" })
    .sign(signer.privateKey);
}

/** Puts members into a signed header without signing again. */
async function swapHeader(jws: string, members: Record<string, unknown>): Promise<string> {
  const [header = "", payload, signature] = jws.split(".");
  const was = JSON.parse(Buffer.from(header, "base64url").toString()) as Record<string, unknown>;
  return `${base64url({ ...was, ...members })}.${payload}.${signature}`;
}

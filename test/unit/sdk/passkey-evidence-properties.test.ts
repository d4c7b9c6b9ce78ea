import { localKeys, type ReceiptExpectation, verifyReceipt } from "@countersign/mcp";
import { createSigner, type Signer } from "@countersign/mcp/fake/approval";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type CoseAlgorithm, createAuthenticator } from "../../support/software-authenticator";
import { AUDIENCE, acceptClaims, at, type Claims, evidenceOf, ISSUER, ORIGIN, RP_ID } from "./evidence";

type Path = readonly string[];

let signer: Signer;
let keys: ReceiptExpectation["keys"];

beforeAll(async () => {
  signer = await createSigner("key-1");
  keys = await localKeys({ keys: [signer.publicJwk] });
});

/** Issuer and client are the receipt's own here: whoever has leaked keys names whom they like. */
const judge = (jws: string, { iss, aud }: Claims) =>
  verifyReceipt(jws, { issuer: String(iss), audience: String(aud), keys, passkey: "required" });

const evidenced = (alg: CoseAlgorithm) => {
  const claims = acceptClaims();
  const authenticator = createAuthenticator({ rpId: RP_ID, origin: ORIGIN, alg });
  return { ...claims, passkey: evidenceOf(authenticator, claims) };
};

/** What is the service's word in a receipt, and can be changed by whoever has its signing key; nothing else can. */
const vouchedFor: Record<string, unknown> = {
  jti: "rct_2",
  iat: 1,
  "authn.iss": "https://other.example",
  "authn.sub": "mallory",
  "authn.via": "other_link",
  locale: "ja",
  // Not later than the page, and after the passkey was registered.
  asked_at: at(-60),
  shown_at: at(5),
  // Within the challenge's lifetime.
  decided_at: at(120),
  tool: "update_project",
  "caller.iss": "https://other.example",
  "caller.sub": "mallory",
  "caller.clientId": "other-app",
  auth_time: 1,
  "amr.0": "pwd",
  "amr.1": "otp",
  act_by: at(9999),
  policy_version: 4,
  "passkey.credential_id": "AAAA",
  // Before the page was shown.
  "passkey.created_at": at(-1800),
  "passkey.user_handle": "AAAA",
};

describe.each<CoseAlgorithm>([-7, -8, -257])("each single change of an evidenced receipt (COSE %s)", (alg) => {
  const claims = evidenced(alg);
  const paths = pathsOf(claims);
  const covered = paths.filter((path) => !(path.join(".") in vouchedFor) && !isVouchedWhole(path));

  it("fails without the service's key, wherever it is made", async () => {
    const jws = await signer.sign(claims);
    const [header = "", , signature = ""] = jws.split(".");
    expect(await judge(jws, claims)).toMatchObject({ ok: true });
    const forged = fc.constantFrom(...paths).chain((path) => changeAt(claims, path));
    await fc.assert(
      fc.asyncProperty(forged, async (changed) => {
        const payload = Buffer.from(JSON.stringify(changed)).toString("base64url");
        const verdict = await judge(`${header}.${payload}.${signature}`, changed);
        expect(verdict).toMatchObject({ ok: false, reason: "bad_signature" });
      }),
      { numRuns: 300 },
    );
  });

  it("I17: fails even with the service's leaked key, wherever the passkey's signature covers it", async () => {
    const forged = fc.constantFrom(...covered).chain((path) => changeAt(claims, path));
    await fc.assert(
      fc.asyncProperty(forged, async (changed) => {
        expect(await judge(await signer.sign(changed), changed)).toMatchObject({ ok: false });
      }),
      { numRuns: 600 },
    );
  });

  it("of every single path that is covered fails: removed, and replaced by a value of its own kind", async () => {
    for (const path of covered) {
      for (const value of [undefined, neighbour(valueAt(claims, path))]) {
        const changed = withValue(claims, path, value);
        expect(await judge(await signer.sign(changed), changed), path.join(".")).toMatchObject({ ok: false });
      }
    }
  });

  it("of what is the service's word verifies: this list is complete, and holds no more than that", async () => {
    for (const [name, value] of Object.entries(vouchedFor)) {
      const changed = withValue(claims, name.split("."), value);
      expect(changed, name).not.toEqual(claims);
      expect(await judge(await signer.sign(changed), changed), name).toMatchObject({ ok: true });
    }
  });
});

describe("an assertion and the decision that it is for", () => {
  const authenticator = createAuthenticator({ rpId: RP_ID, origin: ORIGIN });
  const decisions = fc.record({
    approval_id: fc.constantFrom("apr_00000000000000000000000000", "apr_11111111111111111111111111"),
    action_digest: fc.constantFrom(`sha256:${"0".repeat(64)}`, `sha256:${"1".repeat(64)}`),
    view_digest: fc.constantFrom("sha256:v", "sha256:w"),
    sub_id: fc.record({
      format: fc.constant("iss_sub"),
      iss: fc.constantFrom("https://as.example.com", "https://as.example.org"),
      sub: fc.constantFrom("alice", "bob"),
    }),
    iss: fc.constantFrom(ISSUER, "https://other.example.com"),
    aud: fc.constantFrom(AUDIENCE, "cli_other"),
  });

  it("verifies for that decision and for no other, in whichever order they come", async () => {
    await fc.assert(
      fc.asyncProperty(decisions, decisions, async (one, other) => {
        const signed = acceptClaims(one);
        const claims = acceptClaims(other);
        const receipt = { ...claims, passkey: evidenceOf(authenticator, claims, { signed }) };
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        expect((await judge(await signer.sign(receipt), receipt)).ok).toBe(isSame);
      }),
      { numRuns: 500 },
    );
  });

  it("verifies only where a person was present and verified, whatever else the flags say", async () => {
    for (let flags = 0; flags <= 0xff; flags += 1) {
      const claims = acceptClaims();
      const receipt = { ...claims, passkey: evidenceOf(authenticator, claims, { flags }) };
      const isVerified = (flags & 0x05) === 0x05;
      const isSound = (flags & 0xc0) === 0 && (flags & 0x18) !== 0x10;
      expect((await judge(await signer.sign(receipt), receipt)).ok, `flags ${flags}`).toBe(isVerified && isSound);
    }
  });

  it("verifies for no other type, origin or relying party", async () => {
    const text = fc.oneof(fc.webUrl(), fc.domain(), fc.string());
    const otherwise = fc.oneof(
      fc.record({ type: fc.oneof(text, fc.constantFrom("webauthn.create", "Webauthn.get", "webauthn.get ")) }),
      fc.record({ origin: fc.oneof(text, fc.constantFrom(`${ORIGIN}/`, `${ORIGIN}.`, "https://example.com")) }),
      fc.record({ rpId: fc.oneof(text, fc.constantFrom("approve.example.com", "Example.com", "example.com.")) }),
    );
    await fc.assert(
      fc.asyncProperty(otherwise, async (overrides) => {
        const claims = acceptClaims();
        const receipt = { ...claims, passkey: evidenceOf(authenticator, claims, overrides) };
        expect(await judge(await signer.sign(receipt), receipt)).toMatchObject({ ok: false, reason: "bad_evidence" });
      }),
      { numRuns: 300 },
    );
  });

  it("whatever is put in the place of the evidence is refused, and nothing is thrown", async () => {
    const whole = evidenced(-7);
    const claim = fc.record(
      Object.fromEntries(
        Object.entries(whole.passkey).map(([name, value]) => [name, fc.oneof(fc.constant(value), fc.jsonValue())]),
      ),
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.jsonValue(), claim), async (passkey) => {
        fc.pre(JSON.stringify(passkey) !== JSON.stringify(whole.passkey));
        const { ok } = await judge(await signer.sign({ ...whole, passkey }), whole);
        if (ok) expect(passkey).toMatchObject(coveredMembers(whole.passkey));
      }),
      { numRuns: 1000 },
    );
  });
});

/** Containers whose members are all the service's word. */
function isVouchedWhole(path: Path): boolean {
  return path.length === 1 && ["caller", "authn", "amr"].includes(path[0] ?? "");
}

function coveredMembers(passkey: Claims): Claims {
  return Object.fromEntries(Object.entries(passkey).filter(([name]) => !(`passkey.${name}` in vouchedFor)));
}

/** Every place in a JSON value, containers too. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  const own = path.length === 0 ? [] : [path];
  if (typeof value !== "object" || value === null) return own;
  return [...own, ...Object.entries(value).flatMap(([name, member]) => pathsOf(member, [...path, name]))];
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((container, name) => (container as Claims)[name], value);
}

function withValue<T>(value: T, path: Path, to: unknown): T {
  const copy = structuredClone(value);
  const name = path.at(-1) ?? "";
  const container = valueAt(copy, path.slice(0, -1)) as Claims;
  if (to === undefined) delete container[name];
  else container[name] = to;
  return copy;
}

/** One character or unit away; of a container, one without its first member. */
function neighbour(value: unknown): unknown {
  if (typeof value === "number") return value + 1;
  if (typeof value === "string") return flipped(value, Math.floor(value.length / 2));
  const [first] = Object.keys(value as Claims);
  return withValue(value, [first ?? ""], undefined);
}

function flipped(text: string, index: number): string {
  const character = text[index] === "A" ? "B" : "A";
  return `${text.slice(0, index)}${character}${text.slice(index + 1)}`;
}

/** One place changed: removed, one character or unit off, cut, longer, or something else altogether. */
function changeAt(claims: Claims, path: Path): fc.Arbitrary<Claims> {
  const was = valueAt(claims, path);
  const near =
    typeof was === "string"
      ? fc.oneof(
          fc.nat(was.length - 1).map((index) => flipped(was, index)),
          fc.nat(was.length - 1).map((length) => was.slice(0, length)),
          fc.string({ minLength: 1 }).map((more) => was + more),
        )
      : fc.constant(neighbour(was));
  return fc
    .oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 4, arbitrary: near }, fc.jsonValue())
    .filter((to) => JSON.stringify(to) !== JSON.stringify(was))
    .map((to) => withValue(claims, path, to));
}

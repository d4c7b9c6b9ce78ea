import { randomBytes } from "node:crypto";
import { verifyWebhook, WebhookError } from "@countersign/mcp";
import { signWebhookForTest } from "@countersign/mcp/fake";
import { newApprovalId } from "@countersign/mcp/fake/approval";
import type { WebhookErrorCode, WebhookRequest } from "@countersign/mcp/webhook";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { describe, expect, it } from "vitest";

const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString("base64")}`;
const secret = newSecret();
const approvalId = newApprovalId();
const digest = `sha256:${"ab".repeat(32)}`;
const data = {
  clientId: "cli_crm",
  approvalId,
  approvalSeq: 2,
  tool: "delete_project",
  actionDigest: digest,
  status: "accepted",
  decision: "accept",
  decidedAt: "2026-12-01T12:00:00Z",
  actBy: "2026-12-01T12:05:00Z",
  receipt: "a.b.c",
};
const timestamp = "2026-12-01T12:00:00.123Z";
const bodyOf = (type = "approval.accepted", of: object = data) => JSON.stringify({ type, timestamp, data: of });

function codeOf(request: Partial<WebhookRequest> & { body: unknown }): WebhookErrorCode | "none" {
  try {
    verifyWebhook({ secret, headers: {}, ...request } as WebhookRequest);
    return "none";
  } catch (error) {
    if (error instanceof WebhookError) return error.code;
    throw error;
  }
}

/** Signed anew, so that only the form can be at fault. */
const codeOfBody = (body: string | Uint8Array) => codeOf({ body, headers: signWebhookForTest({ body, secret }) });

describe("verifyWebhook beside the reference library", () => {
  it("takes what the library signs, as text and as bytes", () => {
    const body = bodyOf();
    const at = new Date();
    const headers = {
      "webhook-id": "evt_0123456789abcdefghjkmnpqrs",
      "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
      "webhook-signature": new Webhook(secret).sign("evt_0123456789abcdefghjkmnpqrs", at, body),
    };
    const event = verifyWebhook({ body, headers, secret });
    expect(event).toEqual({ kind: "approval", id: headers["webhook-id"], type: "approval.accepted", timestamp, data });
    expect(verifyWebhook({ body: Buffer.from(body), headers: new Headers(headers), secret })).toEqual(event);
  });

  it("the library takes what signWebhookForTest signs", () => {
    const body = bodyOf("approval.declined", { ...data, status: "declined", decision: "decline", reason: "日本語 🙂" });
    expect(new Webhook(secret).verify(body, signWebhookForTest({ body, secret }))).toEqual(JSON.parse(body));
    const rotated = signWebhookForTest({ body, secret: [newSecret(), secret] });
    expect(new Webhook(secret).verify(body, rotated)).toEqual(JSON.parse(body));
  });

  const seconds = () => Math.floor(Date.now() / 1000);
  const signed = (more: object = {}) => signWebhookForTest({ body: bodyOf(), secret, ...more });
  const without = (name: string) =>
    Object.fromEntries(Object.entries(signed()).filter(([given]) => given !== name)) as Record<string, string>;
  const refusals: [string, Record<string, string>, WebhookErrorCode][] = [
    ["no id", without("webhook-id"), "missing_header"],
    ["no timestamp", without("webhook-timestamp"), "missing_header"],
    ["no signature", without("webhook-signature"), "missing_header"],
    ["an empty signature", { ...signed(), "webhook-signature": "" }, "missing_header"],
    ["a timestamp that is no number", { ...signed(), "webhook-timestamp": "yesterday" }, "bad_timestamp"],
    ["too old", signed({ timestamp: seconds() - 302 }), "stale_timestamp"],
    ["too new", signed({ timestamp: seconds() + 302 }), "stale_timestamp"],
    ["another secret", signed({ secret: newSecret() }), "bad_signature"],
    [
      "another version",
      { ...signed(), "webhook-signature": signed()["webhook-signature"]?.replace("v1,", "v2,") ?? "" },
      "bad_signature",
    ],
    ["a signature cut short", { ...signed(), "webhook-signature": "v1,AAAA" }, "bad_signature"],
    ["a signature without its value", { ...signed(), "webhook-signature": "v1" }, "bad_signature"],
  ];
  it.each(refusals)("both refuse %s", (_, headers, code) => {
    const body = bodyOf();
    expect(codeOf({ body, headers })).toBe(code);
    const verifier = new Webhook(secret);
    // What it makes of a version without a value is an error of another class.
    expect(() => verifier.verify(body, headers)).toThrow(code === "bad_signature" ? Error : WebhookVerificationError);
  });

  it("both take an attempt that is 299 s old or ahead", () => {
    for (const offset of [-299, 299]) {
      const headers = signed({ timestamp: seconds() + offset });
      expect(codeOf({ body: bodyOf(), headers })).toBe("none");
      expect(() => new Webhook(secret).verify(bodyOf(), headers)).not.toThrow();
    }
  });
});

describe("which secrets and signatures count", () => {
  const body = bodyOf();

  it("while a secret is rotated either side may know both: one that fits is enough, in any place", () => {
    const [old, next] = [newSecret(), newSecret()];
    const pairs: [string | string[], string | string[]][] = [
      [[old, next], old],
      [[old, next], next],
      [old, [old, next]],
      [next, [old, next]],
      [
        [next, old],
        [old, next],
      ],
    ];
    for (const [signing, known] of pairs)
      expect(codeOf({ body, headers: signWebhookForTest({ body, secret: signing }), secret: known })).toBe("none");
    expect(codeOf({ body, headers: signWebhookForTest({ body, secret: old }), secret: next })).toBe("bad_signature");
  });

  it("signatures of versions that are not known are passed over, wherever they stand", () => {
    const headers = signWebhookForTest({ body, secret });
    const [, value = ""] = (headers["webhook-signature"] ?? "").split(",");
    const list = `v1a,${value} v2,${value} v1 ${headers["webhook-signature"]} V1,x`;
    expect(codeOf({ body, headers: { ...headers, "webhook-signature": list } })).toBe("none");
    expect(codeOf({ body, headers: { ...headers, "webhook-signature": `v1a,${value} V1,${value}` } })).toBe(
      "bad_signature",
    );
  });

  it("a signature counts in one spelling only: not unpadded, not url-safe, not with other unused bits", () => {
    const headers = signWebhookForTest({ body, secret });
    const signature = headers["webhook-signature"] ?? "";
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const last = signature.at(-2) ?? "";
    const twin = `${signature.slice(0, -2)}${alphabet[alphabet.indexOf(last) ^ 1]}=`;
    expect(Buffer.from(twin.slice(3), "base64")).toEqual(Buffer.from(signature.slice(3), "base64"));
    for (const other of [
      twin,
      signature.slice(0, -1),
      `${signature}=`,
      `${signature},`,
      ` ${signature}`.replace("v1,", "v1, "),
    ])
      expect(codeOf({ body, headers: { ...headers, "webhook-signature": other } })).toBe("bad_signature");
  });

  it.each([
    ["no secret at all", undefined],
    ["an empty list", []],
    ["another kind of key", "csk_abcdefabcdef_0123"],
    ["no prefix", secret.slice("whsec_".length)],
    ["a public key of the asymmetric kind", secret.replace("whsec_", "whpk_")],
    ["an empty one", "whsec_"],
    ["one that is too short", newSecret(23)],
    ["one that is too long", newSecret(65)],
    ["one with a line break from a file", `${secret}\n`],
    ["one that was cut", secret.slice(0, -2)],
    ["a good and a bad one", [secret, "whsec_x"]],
  ])("%s is the receiver's own mistake, said without the secret", (_, given) => {
    const request = { body, headers: signWebhookForTest({ body, secret }), secret: given as string };
    expect(codeOf(request)).toBe("bad_secret");
    expect(() => verifyWebhook(request)).not.toThrow(secret.slice(10, 30));
  });

  it("a tolerance outside 1…3600 s is a mistake that is said at once", () => {
    const headers = signWebhookForTest({ body, secret });
    for (const toleranceSeconds of [0, -1, 3601, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => verifyWebhook({ body, headers, secret, toleranceSeconds })).toThrow(RangeError);
  });

  it("the age is judged by the clock that is given, to the second, both ways", () => {
    const headers = signWebhookForTest({ body, secret, timestamp: 1_800_000_000 });
    const at = (seconds: number) =>
      codeOf({ body, headers, toleranceSeconds: 10, now: () => (1_800_000_000 + seconds) * 1000 });
    expect([-11, -10, 10, 11].map(at)).toEqual(["stale_timestamp", "none", "none", "stale_timestamp"]);
  });
});

describe("headers as servers give them", () => {
  const body = bodyOf();
  const headers = signWebhookForTest({ body, secret });
  const { "webhook-id": id = "", "webhook-timestamp": at = "", "webhook-signature": signature = "" } = headers;

  it("names in any case, lists of one, and signatures over several lines", () => {
    const other = signWebhookForTest({ body, secret: newSecret() })["webhook-signature"] ?? "";
    const lists = { "Webhook-Id": [id], "WEBHOOK-TIMESTAMP": [at], "webhook-signature": [other, signature] };
    expect(codeOf({ body, headers: lists })).toBe("none");
  });

  it("an id or a timestamp that came twice is refused, equal or not, in a list, joined, or under two spellings", () => {
    const twice: [Record<string, string | string[]>, WebhookErrorCode][] = [
      [{ ...headers, "webhook-id": [id, id] }, "missing_header"],
      [{ ...headers, "webhook-id": `${id}, ${id}` }, "missing_header"],
      [{ ...headers, "Webhook-Id": id }, "missing_header"],
      [{ ...headers, "webhook-timestamp": [at, at] }, "missing_header"],
      [{ ...headers, "webhook-timestamp": `${at}, ${at}` }, "bad_timestamp"],
    ];
    for (const [given, code] of twice) expect(codeOf({ body, headers: given })).toBe(code);
    const joined = new Headers(headers);
    joined.append("webhook-id", id);
    expect(codeOf({ body, headers: joined })).toBe("missing_header");
  });

  it("what is on a prototype is no header, and names of Object.prototype are just names", () => {
    expect(codeOf({ body, headers: Object.create(headers) as Record<string, string> })).toBe("missing_header");
    const own = Object.assign(Object.create(null) as Record<string, string>, headers, { constructor: "x", get: "y" });
    expect(codeOf({ body, headers: own })).toBe("none");
    expect(
      codeOf({ body, headers: JSON.parse(`{"__proto__":${JSON.stringify(headers)}}`) as Record<string, string> }),
    ).toBe("missing_header");
  });

  it("an id with a full stop cannot move the border of what is signed", () => {
    const moved = signWebhookForTest({ id: "evt_a.1", timestamp: 2, body, secret });
    expect(codeOf({ body, headers: moved, now: () => 2000 })).toBe("missing_header");
    const longer = {
      ...signWebhookForTest({ id: "evt_a", timestamp: 1, body: `2.${body}`, secret }),
      "webhook-id": "evt_a.1",
      "webhook-timestamp": "2",
    };
    expect(codeOf({ body, headers: longer, now: () => 2000 })).toBe("missing_header");
  });

  it.each(["-1", "+1", "1.5", "0x10", "1e9", "01", " 1", "", "9".repeat(13), "１"])("%j is no timestamp", (given) => {
    expect(codeOf({ body, headers: { ...headers, "webhook-timestamp": given } })).toBe("bad_timestamp");
  });

  it("a header of signatures longer than any sender's is not looked through", () => {
    const many = `${"v1,x ".repeat(2000)}${signature}`;
    expect(codeOf({ body, headers: { ...headers, "webhook-signature": many } })).toBe("bad_signature");
  });
});

describe("bodies", () => {
  it("anything but text or bytes is refused with the reason: a parser has been at it", () => {
    for (const body of [JSON.parse(bodyOf()), undefined, null, 1, [1]]) {
      const headers = signWebhookForTest({ body: bodyOf(), secret });
      expect(codeOf({ body, headers })).toBe("malformed_body");
    }
    const reserialised = JSON.stringify(JSON.parse(bodyOf()), null, 2);
    const headers = signWebhookForTest({ body: bodyOf(), secret });
    expect(() => verifyWebhook({ body: reserialised, headers, secret })).toThrow("raw bytes");
  });

  it("every text survives, and a byte order mark or bytes that are not UTF-8 are no JSON", () => {
    const reason = "日本語 🙂 \u2028 é e\u0301 \u0000 ‮";
    const body = bodyOf("approval.withdrawn", { ...data, status: "withdrawn", decision: undefined, reason });
    const event = verifyWebhook({ body: Buffer.from(body), headers: signWebhookForTest({ body, secret }), secret });
    expect(event.kind === "approval" && event.data.reason).toBe(reason);
    expect(codeOfBody(`\ufeff${bodyOf()}`)).toBe("malformed_body");
    expect(codeOfBody(Buffer.from(bodyOf().replace("a.b.c", "é"), "latin1"))).toBe("malformed_body");
    // A framework that drops the mark has changed the bytes.
    expect(codeOf({ body: bodyOf(), headers: signWebhookForTest({ body: `\ufeff${bodyOf()}`, secret }) })).toBe(
      "bad_signature",
    );
  });

  it("more than 65536 bytes are refused before anything is made of them, counted in bytes", () => {
    expect(codeOfBody(" ".repeat(10_000_000))).toBe("malformed_body");
    const padded = (filler: string) => bodyOf("approval.accepted", { ...data, receipt: filler });
    const room = 65_536 - Buffer.byteLength(padded(""));
    expect(codeOfBody(padded("x".repeat(room)))).toBe("none");
    expect(codeOfBody(padded("x".repeat(room + 1)))).toBe("malformed_body");
    expect(codeOfBody(Buffer.from(padded("x".repeat(room))))).toBe("none");
    expect(codeOfBody(Buffer.from(padded("x".repeat(room + 1))))).toBe("malformed_body");
    expect(codeOfBody(padded("é".repeat(Math.ceil(room / 2) + 1)))).toBe("malformed_body");
  });

  it.each([
    ["nothing", ""],
    ["no JSON", "{"],
    ["a number", "1"],
    ["null", "null"],
    ["a list", "[]"],
    ["no type", JSON.stringify({ timestamp, data })],
    ["no data", JSON.stringify({ type: "approval.accepted", timestamp })],
    ["an instant that is none", JSON.stringify({ type: "approval.accepted", timestamp: "today", data })],
    ["an id that is none", bodyOf("approval.accepted", { ...data, approvalId: "apr_../../x" })],
    ["a number that is none", bodyOf("approval.accepted", { ...data, approvalSeq: 0 })],
    ["a number beyond what is exact", bodyOf("approval.accepted", { ...data, approvalSeq: 2 ** 60 })],
    ["a status of no contract", bodyOf("approval.accepted", { ...data, status: "approved" })],
    ["an unknown type without data", JSON.stringify({ type: "approval.pondered", timestamp })],
    ["__proto__ anywhere", bodyOf().replace('"receipt"', '"__proto__":{"status":"accepted"},"receipt"')],
    ["bytes of no text", Buffer.from([0xff, 0xfe])],
  ])("signed and yet refused: %s", (_, body) => {
    expect(codeOfBody(body)).toBe("malformed_body");
  });

  it("the error says where, and nothing of what was sent", () => {
    const body = bodyOf("approval.accepted", { ...data, actionDigest: "sha256:secret-value" });
    const run = () => verifyWebhook({ body, headers: signWebhookForTest({ body, secret }), secret });
    expect(run).toThrow("at /data/actionDigest");
    expect(run).not.toThrow("secret-value");
  });
});

describe("kinds of events", () => {
  const kindOf = (type: string, of: object) => {
    const body = bodyOf(type, of);
    return verifyWebhook({ body, headers: signWebhookForTest({ body, secret }), secret });
  };

  it("each type of the contract has its kind, and members that came later are kept", () => {
    for (const end of ["accepted", "declined", "cancelled", "expired", "withdrawn", "lapsed", "consumed", "outcome"]) {
      const event = kindOf(`approval.${end}`, { ...data, later: { a: 1 } });
      expect(event).toMatchObject({ kind: "approval", type: `approval.${end}`, data: { ...data, later: { a: 1 } } });
    }
    const subject = { iss: "https://as.example.com", sub: "alice" };
    const until = "2026-12-01T13:00:00.000Z";
    expect(kindOf("client.frozen", { clientId: "cli_crm", subject, until, reason: "x" }).kind).toBe("freeze");
    expect(kindOf("client.unfrozen", { clientId: "cli_crm" }).kind).toBe("freeze");
    expect(kindOf("webhook.test", { clientId: "cli_crm", endpointId: "whe_1" }).kind).toBe("test");
  });

  it("a type that is not known yet is no error, also one named like a member of every object", () => {
    for (const type of ["approval.pondered", "constructor", "toString", "__proto__"])
      expect(kindOf(type, { anything: [1] })).toMatchObject({ kind: "unknown", type, data: { anything: [1] } });
  });

  it("the id is that of the header, whatever the body says", () => {
    const body = JSON.stringify({ id: "evt_other", type: "client.unfrozen", timestamp, data: { clientId: "cli_crm" } });
    const headers = signWebhookForTest({ id: "evt_this", body, secret });
    expect(verifyWebhook({ body, headers, secret }).id).toBe("evt_this");
  });
});

import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import path from "node:path";
import { verifyWebhook, WebhookError } from "@countersign/mcp";
import { signWebhookForTest } from "@countersign/mcp/fake";
import { describe, expect, it } from "vitest";

const folder = path.resolve(import.meta.dirname, "../../../examples/python");
const script = `
import base64, json, sys
sys.path.insert(0, sys.argv[1])
from countersign import BadWebhook, verify_webhook
out = []
for case in json.load(sys.stdin):
    try:
        event = verify_webhook(base64.b64decode(case["body"]), case["headers"], case["secret"])
        out.append(event["type"] + " " + event["id"])
    except BadWebhook as error:
        out.append(error.code)
    except ValueError as error:
        out.append("bad_secret")
print(json.dumps(out))
`;

type Case = { name: string; body: string | Buffer; headers: Record<string, string>; secret: string | string[] };

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const body = JSON.stringify({
  type: "later.kind",
  timestamp: "2026-12-01T12:00:00.123Z",
  data: { reason: "日本語 🙂" },
});
const headers = signWebhookForTest({ body, secret });
const signed = (text: string | Buffer, more: object = {}) => signWebhookForTest({ body: text, secret, ...more });
const seconds = Math.floor(Date.now() / 1000);
const other = `whsec_${randomBytes(24).toString("base64")}`;
const bad = Buffer.from([0x7b, 0xff, 0x7d]);

const cases: Case[] = [
  { name: "a good one", body, headers, secret },
  { name: "names in other cases", body, headers: upper(headers), secret },
  { name: "rotated", body, headers: signed(body, { secret: [other, secret] }), secret: [secret, other] },
  { name: "another secret", body, headers, secret: other },
  { name: "one byte changed", body: body.replace("later", "latex"), headers, secret },
  { name: "another id", body, headers: { ...headers, "webhook-id": "evt_x" }, secret },
  { name: "a dotted id", body, headers: signed(body, { id: "a.b" }), secret },
  { name: "an id twice", body, headers: { ...headers, "Webhook-Id": headers["webhook-id"] ?? "" }, secret },
  { name: "no id", body, headers: { ...headers, "webhook-id": "" }, secret },
  { name: "no signature", body, headers: { ...headers, "webhook-signature": "" }, secret },
  { name: "another version", body, headers: { ...headers, "webhook-signature": "v2,x v1a,y" }, secret },
  { name: "a signature that is no ASCII", body, headers: { ...headers, "webhook-signature": "v1,é\ud800" }, secret },
  { name: "a timestamp in other digits", body, headers: { ...headers, "webhook-timestamp": "１" }, secret },
  { name: "a timestamp with a sign", body, headers: { ...headers, "webhook-timestamp": "+1" }, secret },
  { name: "too old", body, headers: signed(body, { timestamp: seconds - 400 }), secret },
  { name: "too new", body, headers: signed(body, { timestamp: seconds + 400 }), secret },
  { name: "too long", body: " ".repeat(65_537), headers: signed(" ".repeat(65_537)), secret },
  { name: "a byte order mark", body: `\ufeff${body}`, headers: signed(`\ufeff${body}`), secret },
  { name: "no UTF-8", body: bad, headers: signed(bad), secret },
  { name: "no JSON", body: "{", headers: signed("{"), secret },
  { name: "no event", body: "{}", headers: signed("{}"), secret },
  { name: "nested as deep as it goes", body: "[".repeat(60_000), headers: signed("[".repeat(60_000)), secret },
  { name: "no secret", body, headers, secret: "" },
  { name: "a short secret", body, headers, secret: `whsec_${randomBytes(23).toString("base64")}` },
  { name: "a secret with a line break", body, headers, secret: `${secret}\n` },
];

function upper(named: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name.toUpperCase(), value]));
}

function inKit(one: Case): string {
  try {
    const event = verifyWebhook(one);
    return `${event.type} ${event.id}`;
  } catch (error) {
    if (error instanceof WebhookError) return error.code;
    throw error;
  }
}

describe("verify_webhook in Python", () => {
  const sent = cases.map((one) => ({ ...one, body: Buffer.from(one.body).toString("base64") }));
  const { stdout, stderr } = spawnSync("python3", ["-c", script, folder], {
    input: JSON.stringify(sent),
    encoding: "utf8",
  });
  const answers = stdout === "" ? [] : (JSON.parse(stdout) as string[]);

  it("answers each case", () => {
    expect(stderr).toBe("");
    expect(answers).toHaveLength(cases.length);
    expect(answers[0]).toBe(`later.kind ${headers["webhook-id"]}`);
  });

  it.each(cases.map((one, index) => ({ ...one, index })))("takes or refuses as the kit does: $name", (one) => {
    expect(answers[one.index]).toBe(inKit(one));
  });
});

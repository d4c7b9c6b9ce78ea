import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "@/lib/json/value";
import type { RecordClaims } from "@/lib/records/claims";
import { deriveSecrets } from "@/lib/secrets/derive";
import { buildView } from "@/lib/views/build";
import { isStamp, stampOf, viewDigestOf } from "@/lib/views/stamp";
import type { ShownArgument, ShownText } from "@/lib/views/view";

const recordOf = (args: JsonObject, presentation: Partial<RecordClaims["presentation"]> = {}): RecordClaims => ({
  iss: "https://approve.example.com",
  aud: "https://approve.example.com",
  jti: "apr_00000000000000000000000000",
  client_id: "cli_1",
  client_name: "CRM server",
  caller: { iss: "https://as.example.com", sub: "u1" },
  sub_id: { format: "iss_sub", iss: "https://as.example.com", sub: "u1" },
  action: { tool: "t", arguments: args },
  presentation: { title: "Title", ...presentation },
  requirements: { maxAuthAgeSeconds: 900, passkey: "off", matchCode: true, actBySeconds: 300, stepUpSeconds: 300 },
  policy_version: 1,
  salt: "s",
  action_digest: `sha256:${"0".repeat(64)}`,
  view_version: 1,
  iat: 1,
  exp: 301,
});

/** The text that stands behind what is shown: nothing is added, left out or changed (I11). */
const rawOf = (text: ShownText) => text.spans.map((span) => (span.kind === "text" ? span.text : span.char)).join("");

/** Reads the arguments back from the page, by their ways, types and values. */
function readBack(rows: ShownArgument[]): JsonObject {
  const root: Record<string, unknown> = {};
  for (const row of rows) {
    const steps = row.path.map((step) => ("name" in step ? rawOf(step.name) : step.position));
    let place: Record<string | number, unknown> = root;
    steps.forEach((step, i) => {
      const next = steps[i + 1];
      if (next === undefined) place[step] = shownValue(row);
      else {
        if (!Object.hasOwn(place, step)) place[step] = typeof next === "number" ? [] : {};
        place = place[step] as Record<string | number, unknown>;
      }
    });
  }
  return root as JsonObject;
}

function shownValue({ type, value }: ShownArgument): unknown {
  if (type === "emptyList") return [];
  if (type === "emptyObject") return {};
  if (type === "null" || !value) return null;
  return type === "text" ? rawOf(value) : JSON.parse(rawOf(value));
}

const text = fc
  .string({ unit: "grapheme", maxLength: 12 })
  .filter((s) => !/\p{Surrogate}/u.test(s) && s !== "__proto__");
const { value: jsonValue } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    text,
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(text, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  ),
}));
const anyArguments = fc.dictionary(text, jsonValue, { maxKeys: 5, noNullPrototype: true }) as fc.Arbitrary<JsonObject>;

describe("what the page shows", () => {
  it("I3: is every argument in full: from the page alone the arguments can be read back", () => {
    fc.assert(
      fc.property(anyArguments, (args) => {
        expect(readBack(buildView(recordOf(args), "en").arguments)).toEqual(args);
      }),
      { numRuns: 500 },
    );
  });

  it("I3: has another digest for any other arguments, and the same for the same", () => {
    fc.assert(
      fc.property(anyArguments, anyArguments, (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b);
        const [left, right] = [a, b].map((args) => viewDigestOf(buildView(recordOf(args), "en"), "salt"));
        expect(left === right).toBe(same);
      }),
      { numRuns: 300 },
    );
  });

  it("I11: draws what cannot be seen and warns of what misleads, in titles, labels, values and names alike", () => {
    const evil = "pаy\u202Epal";
    const view = buildView(
      recordOf({ [evil]: evil }, { title: evil, details: [{ label: evil, value: evil, risk: true }] }),
      "en",
    );
    const [argument] = view.arguments;
    const step = argument?.path[0];
    const shown = [
      view.title,
      view.details[0]?.label,
      view.details[0]?.value,
      argument?.value,
      step && "name" in step ? step.name : undefined,
    ];
    for (const part of shown) {
      expect(part?.spans).toContainEqual(expect.objectContaining({ kind: "hidden", codePoint: "U+202E" }));
      expect(part?.warnings).toContain("mixed_scripts");
    }
  });

  it("puts what is risky first and chooses the language, without losing a word", () => {
    const details = [
      { label: "calm", value: "1" },
      { label: { en: "risk", ja: "危険" }, value: "2", risk: true },
    ];
    const view = buildView(recordOf({}, { details, title: { en: "Delete", ja: "削除" } }), "ja");
    expect([rawOf(view.title), view.details.map((detail) => rawOf(detail.label))]).toEqual(["削除", ["危険", "calm"]]);
  });

  it("I3: a stamp holds for one approval, session, view, locale and moment", () => {
    const secrets = deriveSecrets(new Uint8Array(32).fill(7));
    const rendering = { approvalId: "a", sid: "s", viewDigest: "d", locale: "en", renderedAt: 1 } as const;
    const stamp = stampOf(secrets, rendering);
    expect(isStamp(secrets, rendering, stamp)).toBe(true);
    for (const change of [
      { approvalId: "b" },
      { sid: "t" },
      { viewDigest: "e" },
      { locale: "ja" as const },
      { renderedAt: 2 },
    ])
      expect(isStamp(secrets, { ...rendering, ...change }, stamp)).toBe(false);
  });
});

import fc from "fast-check";
import { asHeader, oddTexts } from "./openapi-arbitrary-headers";

/** What a posted form is made of. `token`: whether it has the token that its page would have given it, if `sid` is the session's. */
export type FuzzForm = {
  route: string;
  method: string;
  path: string;
  params: Record<string, string>;
  fields: [string, string][];
  headers: Record<string, string>;
  who: string;
};

const fieldNames = [
  "decision",
  "stamp",
  "locale",
  "renderedAt",
  "code",
  "read",
  "note",
  "passkey",
  "name",
  "answer",
  "stepUpFor",
  "to",
  "password",
  "iss",
  "sub",
  "identity",
  "verified",
  "alert",
  "freeze",
  "delivery",
  "extra",
  "__proto__",
  "",
];

const oddFields = fc.oneof(
  fc.string({ maxLength: 40, unit: "binary" }),
  fc.string({ maxLength: 20, unit: "grapheme" }),
  fc.constantFrom(
    "",
    "\0",
    "a\0b",
    "yes",
    "accept",
    "decline",
    "cancel",
    "not_requested",
    "en",
    "ja",
    "1",
    "0",
    "-1",
    "1e9",
    "99999999999999999999",
    "47",
    "account",
  ),
  fc.constantFrom(
    "{}",
    "[]",
    "null",
    '{"id":"\\u0000"}',
    '["https://a","\\u0000"]',
    '["\\ud800","x"]',
    "//evil.example",
    "https://evil.example/",
    "/\\evil.example",
    "x".repeat(501),
    "界".repeat(20_000),
    "x".repeat(70_000),
  ),
  fc.constantFrom("\0", "a\0b"),
  passkeyAnswers(),
);

/** What a page's script sends of an authenticator, with values that none would give. */
function passkeyAnswers(): fc.Arbitrary<string> {
  const odd = fc.constantFrom("", "AAAA", "\0", "a\u0000b", "!!", "x".repeat(2_000));
  const clientData = fc
    .record({
      type: fc.constantFrom("webauthn.get", "webauthn.create", ""),
      challenge: odd,
      origin: fc.constantFrom("http://localhost:3000", "null", ""),
    })
    .map((data) => Buffer.from(JSON.stringify(data)).toString("base64url"));
  return fc
    .record({
      id: odd,
      rawId: odd,
      type: fc.constantFrom("public-key", ""),
      clientExtensionResults: fc.constant({}),
      response: fc.record({
        clientDataJSON: fc.oneof(clientData, odd),
        authenticatorData: odd,
        signature: odd,
        attestationObject: odd,
        userHandle: odd,
        transports: fc.constant(["\0"]),
      }),
    })
    .map((answer) => JSON.stringify(answer));
}

/** Forms of these routes, by somebody of `people`, about something of `ids`, by route or for all. */
export function formsOf(routes: string[], people: string[], ids: (route: string) => string[]): fc.Arbitrary<FuzzForm> {
  return fc.oneof(...routes.map((route) => formsTo(route, people, ids(route))));
}

function formsTo(route: string, people: string[], ids: string[]): fc.Arbitrary<FuzzForm> {
  const name = /:([a-z]+)/i.exec(route)?.[1];
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...ids) },
    { weight: 1, arbitrary: oddTexts.filter((text) => text !== "" && !text.includes("..") && text !== "%2e%2e") },
  );
  const field = fc.tuple(fc.constantFrom(...fieldNames), oddFields);
  return fc
    .record({
      step,
      fields: fc.array(field, { maxLength: 12 }),
      headers: headers(),
      who: fc.constantFrom(...people),
      method: fc.oneof(
        { weight: 30, arbitrary: fc.constant("POST") },
        { weight: 1, arbitrary: fc.constantFrom("GET", "PUT", "DELETE", "HEAD", "OPTIONS") },
      ),
    })
    .map(({ step, ...form }) => ({
      ...form,
      route,
      path: name ? route.replace(`:${name}`, step) : route,
      params: name ? { [name]: decoded(step) } : {},
    }));
}

function headers(): fc.Arbitrary<Record<string, string>> {
  const own = fc.constantFrom<Record<string, string>>(
    { "sec-fetch-site": "same-origin" },
    { origin: "http://localhost:3000" },
  );
  const foreign = fc.constantFrom<Record<string, string>>(
    {},
    { "sec-fetch-site": "cross-site" },
    { origin: "null" },
    { "sec-fetch-site": "same-site", origin: "http://localhost:3000" },
  );
  const type = fc.oneof(
    { weight: 12, arbitrary: fc.constant("application/x-www-form-urlencoded") },
    { weight: 1, arbitrary: fc.constantFrom("", "text/plain", "multipart/form-data; boundary=x", "application/json") },
  );
  const accept = fc.constantFrom("text/html", "application/json", "");
  const odd = fc.string({ maxLength: 40, unit: "binary" }).map(asHeader);
  return fc
    .record({ from: fc.oneof({ weight: 8, arbitrary: own }, { weight: 1, arbitrary: foreign }), type, accept, odd })
    .map(({ from, type, accept, odd }) => ({
      ...from,
      "content-type": type,
      accept,
      "user-agent": odd,
      "x-forwarded-for": odd,
      "accept-language": odd,
    }));
}

/** As the router reads a step of a path. */
function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step.replaceAll(/(%[0-9A-Fa-f]{2})+/g, (part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
  }
}

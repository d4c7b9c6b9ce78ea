import fc from "fast-check";
import { actTarget } from "@/app/admin/posted-form";
import type { CsrfBinding } from "@/lib/sessions/csrf";
import { stepUpForAccount } from "@/lib/sessions/replace";
import { asHeader, oddTexts } from "./openapi-arbitrary";

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

/** What a form's token is for, by its route; a form that is missing here makes the test fail. */
export const bindings: Record<
  string,
  (params: Record<string, string>, fields: URLSearchParams) => Omit<CsrfBinding, "sid">
> = {
  "/a/:id/challenge": ({ id = "" }) => ({ purpose: "decide", target: id }),
  "/a/:id/decision": ({ id = "" }) => ({ purpose: "decide", target: id }),
  "/a/:id/take-back": ({ id = "" }) => ({ purpose: "take_back", target: id }),
  "/a/:id/lift-cooldown": ({ id = "" }) => ({ purpose: "lift_cooldown", target: id }),
  "/a/:id/sign-in-again/submit": ({ id = "" }) => ({ purpose: "step_up", target: id }),
  "/account/freezes/:id/lift": ({ id = "" }) => ({ purpose: "account", target: `freeze:${id}` }),
  "/account/links/unlink": (_, fields) => ({
    purpose: "account",
    target: `unlink:${JSON.stringify([fields.get("iss") ?? "", fields.get("sub") ?? ""])}`,
  }),
  "/account/passkeys": () => ({ purpose: "account", target: "passkey:new" }),
  "/account/passkeys/challenge": () => ({ purpose: "account", target: "passkey:new" }),
  "/account/passkeys/step-up": (_, fields) => ({ purpose: "step_up", target: fields.get("stepUpFor") ?? "" }),
  "/account/passkeys/step-up/challenge": (_, fields) => ({ purpose: "step_up", target: fields.get("stepUpFor") ?? "" }),
  "/account/passkeys/:id/rename": ({ id = "" }) => ({ purpose: "account", target: `passkey:${id}` }),
  "/account/passkeys/:id/remove": ({ id = "" }) => ({ purpose: "account", target: `passkey:${id}` }),
  "/account/sessions/:name/end": ({ name = "" }) => ({ purpose: "account", target: `session:${name}` }),
  "/account/sessions/end-others": () => ({ purpose: "account", target: "sessions:others" }),
  "/account/sign-in-again/submit": () => ({ purpose: "step_up", target: stepUpForAccount }),
};

/** The token of a form, or undefined where a form has none: who asks for a sign-in has no session yet. */
export function bindingOf({
  route,
  params,
  fields,
}: Pick<FuzzForm, "route" | "params" | "fields">): Omit<CsrfBinding, "sid"> | undefined {
  if (route === "/signin/passkey-challenge") return undefined;
  const [, folder = "", verb = ""] = /^\/admin\/(clients|people|webhooks)\/:id\/([a-z-]+)$/.exec(route) ?? [];
  const about = ({ clients: "client", people: "user", webhooks: "webhook" } as const)[folder];
  if (about) return { purpose: "admin", target: actTarget(about, verb, params["id"] ?? "") };
  const binding = bindings[route];
  if (!binding) throw new Error(`what is the token of ${route} for?`);
  return binding(params, new URLSearchParams(fields));
}

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

import type { JsonValue } from "./exact-json";
import { hasCarriedToken } from "./secret-shapes-carriers";
import { isPrivateJwk, knownShapesIn } from "./secret-shapes-known";
import { hasCardNumber, hasMyNumber } from "./secret-shapes-numbers";
import { Naming } from "./secret-shapes-words";

/**
 * What a found value looks like.
 *
 * - `private_key`: a private key in PEM, OpenSSH, PGP, PuTTY, age or JWK form.
 * - `api_key`: a key that a provider issues to a program, known by its prefix.
 * - `token`: an access token, a JWS or JWE, an `Authorization` value, or a URL with a password.
 * - `card_number`: a payment card number of a known issuer with the right check digit.
 * - `my_number`: a Japanese individual number with the right check digit.
 */
export const secretKinds = ["private_key", "api_key", "token", "card_number", "my_number"] as const;

export type SecretKind = (typeof secretKinds)[number];

/** Where something looks like a secret (RFC 6901) and of what kind; never the text itself. */
export type FoundSecret = { readonly pointer: string; readonly kind: SecretKind };

/**
 * Finds what looks like a secret in the strings, member names and numbers of a JSON value: each place and kind once, in
 * document order. A secret in a member's name is reported at the object that holds it, and so is all that lies under that name,
 * so that no pointer repeats a secret. Takes time proportional to the size of the value, which must be one that JSON can carry.
 */
export function findSecrets(value: JsonValue): FoundSecret[] {
  const found = new Map<string, FoundSecret>();
  const open: Place[] = [{ value, pointer: "", naming: new Naming(), isUnderSecret: false }];
  for (let place = open.pop(); place !== undefined; place = open.pop()) {
    for (const kind of kindsAt(place)) found.set(`${kind} ${place.pointer}`, { pointer: place.pointer, kind });
    for (const within of placesWithin(place).reverse()) open.push(within);
  }
  return [...found.values()];
}

type Place = { value: JsonValue; pointer: string; naming: Naming; isUnderSecret: boolean };

function kindsAt({ value, naming }: Place): SecretKind[] {
  if (typeof value === "string") return kindsInText(value, naming);
  if (typeof value === "number") return kindsInNumber(value, naming);
  if (typeof value !== "object" || value === null || isList(value)) return [];
  const names = Object.keys(value).flatMap((name) => kindsInText(name));
  return isPrivateJwk(value) ? ["private_key", ...names] : names;
}

function placesWithin({ value, pointer, naming, isUnderSecret }: Place): Place[] {
  if (typeof value !== "object" || value === null) return [];
  if (isList(value))
    return value.map((item, i) => ({
      value: item,
      pointer: isUnderSecret ? pointer : `${pointer}/${i}`,
      naming,
      isUnderSecret,
    }));
  return Object.entries(value).map(([name, member]) => {
    const isSecret = isUnderSecret || kindsInText(name).length > 0;
    const step = name.replaceAll("~", "~0").replaceAll("/", "~1");
    return {
      value: member,
      pointer: isSecret ? pointer : `${pointer}/${step}`,
      naming: new Naming(naming, name, value),
      isUnderSecret: isSecret,
    };
  });
}

/** Nothing that is looked for is shorter. */
const textMinLength = 12;
/** Everything that is looked for has one of these, and most sentences have none: a long word, digits, a URL, armour, `Basic`. */
const anyShape = /[A-Za-z0-9+/_.-]{12}|[0-9０-９]{3}|:\/\/|BEGIN|basic/i;

/** `naming` is that of a value; a member's own name has none. */
function kindsInText(text: string, naming?: Naming): SecretKind[] {
  if (text.length < textMinLength || !anyShape.test(text)) return [];
  const kinds = new Set<SecretKind>(knownShapesIn(text, naming));
  if (hasCarriedToken(text)) kinds.add("token");
  if (hasCardNumber(text)) kinds.add("card_number");
  if (hasMyNumber(text, naming)) kinds.add("my_number");
  return [...kinds];
}

/** A number is an amount or a count unless its name says otherwise, so it is no individual number by its digits alone. */
function kindsInNumber(value: number, naming: Naming): SecretKind[] {
  if (!Number.isInteger(value) || value < 1e10) return [];
  const text = String(value);
  const kinds: SecretKind[] = hasCardNumber(text) ? ["card_number"] : [];
  // A number loses the zeros in front.
  if (naming.isMyNumber() && hasMyNumber(text.padStart(12, "0"), naming)) kinds.push("my_number");
  return kinds;
}

const isList = (value: object): value is readonly JsonValue[] => Array.isArray(value);

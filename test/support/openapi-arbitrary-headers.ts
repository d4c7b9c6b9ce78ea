import fc from "fast-check";
import type { Operation, Senders } from "./openapi-arbitrary";
import { type Known, valuesOf, write } from "./openapi-arbitrary-json";

/** Headers of a request: a key that is let in or not, those that the operation describes, and some that must change nothing. */
export function headersOf(
  parameters: NonNullable<Operation["parameters"]>,
  known: Known,
  { good, bad }: Senders,
  hasBody: boolean,
): fc.Arbitrary<Record<string, string>> {
  const described = parameters.map(({ name, schema }) => {
    const values = fc.oneof(
      valuesOf(schema, known, name).map((node) => String(JSON.parse(write(node)))),
      latin1,
      fc.constantFrom("", " ", "k".repeat(255), "k".repeat(256), "k".repeat(8_000), "a b", "é"),
    );
    return fc.oneof(
      { weight: 2, arbitrary: fc.constant({}) },
      { weight: 1, arbitrary: values.map((value) => ({ [name]: asHeader(value) })) },
    );
  });
  const authorization = fc.oneof(
    { weight: 16, arbitrary: fc.constantFrom(...good).map((value) => ({ authorization: value })) },
    { weight: 2, arbitrary: fc.constantFrom(...bad).map((value) => ({ authorization: value })) },
    { weight: 1, arbitrary: latin1.map((value) => ({ authorization: asHeader(value) })) },
    { weight: 1, arbitrary: fc.constant({}) },
  );
  const type = hasBody
    ? mostly(
        "application/json",
        fc.oneof(
          fc.constantFrom(
            "",
            "text/plain",
            "application/json; charset=utf-8",
            "APPLICATION/JSON",
            "application/json;",
            "multipart/form-data; boundary=x",
            "application/x-www-form-urlencoded",
            "application/jsonp",
            ", application/json",
          ),
          latin1.map(asHeader),
        ),
        12,
      ).map((value) => ({ "content-type": value }))
    : fc.constant({});
  const other = fc.tuple(
    fc.constantFrom(
      "x-forwarded-for",
      "traceparent",
      "cookie",
      "accept",
      "content-encoding",
      "expect",
      "x-http-method-override",
      "origin",
    ),
    fc.oneof(
      latin1.map(asHeader),
      fc.constantFrom(
        "203.0.113.9",
        "gzip",
        "null",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "00-00000000000000000000000000000000-0000000000000000-00",
      ),
    ),
  );
  return fc
    .tuple(
      authorization,
      type,
      mostly(
        {},
        other.map(([name, value]) => ({ [name]: value })),
        6,
      ),
      ...described,
    )
    .map((parts) => Object.assign({}, ...parts) as Record<string, string>);
}

const latin1 = fc.string({
  maxLength: 60,
  unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
});
/** What HTTP can carry in a header: Latin-1 without control characters. */
export const asHeader = (text: string) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, "");

/** This one, and now and then another. */
export function mostly<T>(usual: T, other: fc.Arbitrary<T>, weight: number): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });
}

/** What stands in a path or query where nothing like it should. */
export const oddTexts = fc.oneof(
  fc.string({ maxLength: 20, unit: "binary" }).map((text) => encodeURIComponent(text)),
  fc.constantFrom(
    "%00",
    "a%00b",
    "%",
    "%zz",
    "%ff",
    "%C0%80",
    "%2F",
    "%2e%2e",
    "..",
    "+",
    "-0",
    "0x5",
    " 5",
    "5 ",
    "٣",
    "1e1",
    "NaN",
  ),
  fc.constantFrom(
    "%00",
    "a%00b",
    "%ED%A0%80",
    "x".repeat(4_000),
    "__proto__",
    "null",
    "apr_",
    "%F0%9F%98%80",
    "a%0d%0ab",
    "'--",
    "%EF%BB%BF5",
  ),
);

/** A value that JSON can hold (RFC 8259 section 3); read-only, so that what was verified cannot drift before it is signed. */
export type JsonValue = null | boolean | number | string | JsonArray | JsonObject;

export type JsonArray = readonly JsonValue[];

export type JsonObject = { readonly [member: string]: JsonValue };

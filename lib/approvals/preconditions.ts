import { createHash } from "node:crypto";
import { canonicalJson } from "../json/canonical";
import type { JsonObject } from "../json/value";

/** Salted like the action, so that a guess of the preconditions cannot be confirmed without the record (I9). */
export function preconditionsDigest(preconditions: JsonObject, salt: string): string {
  return `sha256:${createHash("sha256").update(canonicalJson({ preconditions, salt })).digest("hex")}`;
}

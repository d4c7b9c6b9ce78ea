import { createHash } from "node:crypto";
import type { Locale } from "../approvals/mint-request";
import { canonicalJson } from "../json/canonical";
import type { JsonValue } from "../json/value";
import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";
import type { View } from "./view";

/**
 * SHA-256 over the RFC 8785 text of the view and the record's salt: names exactly what was on the page. Salted, since it stays in the
 * receipt when the arguments are gone, where they could be guessed from it otherwise (I9).
 */
export function viewDigestOf(view: View, salt: string): string {
  return `sha256:${createHash("sha256")
    .update(canonicalJson({ view, salt } as unknown as JsonValue))
    .digest("hex")}`;
}

/** What a form says of the page it was on. `renderedAt` is in milliseconds since the epoch, by the database's clock. */
export type Rendering = { approvalId: string; sid: string; viewDigest: string; locale: Locale; renderedAt: number };

/** Authenticates a rendering, so that a decision answers a view that this service really showed to this session (I3). */
export function stampOf(secrets: Secrets, rendering: Rendering): string {
  return mac(secrets.stamp, partsOf(rendering)).toString("base64url");
}

export function isStamp(secrets: Secrets, rendering: Rendering, stamp: string): boolean {
  return isMacOf(secrets, "stamp", partsOf(rendering), Buffer.from(stamp, "base64url"));
}

function partsOf({ approvalId, sid, viewDigest, locale, renderedAt }: Rendering): MacParts {
  return ["stamp", approvalId, sid, viewDigest, locale, renderedAt];
}

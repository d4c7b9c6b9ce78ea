import type { Secrets } from "../secrets/derive";
import { isMacOf, mac } from "../secrets/mac";

/** A page cursor: the last row's sort key, authenticated for one reader, so that it can be neither forged nor passed on. */
export function sealCursor(secrets: Secrets, reader: string, position: string[]): string {
  return Buffer.from(
    JSON.stringify([...position, mac(secrets.cursor, [reader, ...position]).toString("base64url")]),
  ).toString("base64url");
}

/** The sort key of a cursor that `sealCursor` made for this reader, else undefined. */
export function openCursor(secrets: Secrets, reader: string, cursor: string): string[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (!Array.isArray(parts) || !parts.every((part) => typeof part === "string")) return undefined;
    const position = parts.slice(0, -1);
    return isMacOf(secrets, "cursor", [reader, ...position], Buffer.from(parts.at(-1) ?? "", "base64url"))
      ? position
      : undefined;
  } catch {
    return undefined;
  }
}

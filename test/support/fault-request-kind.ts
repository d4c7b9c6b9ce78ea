/** The requests of a run, by what a fault would interrupt. */
export type RequestKind =
  | "mint"
  | "wait"
  | "consume"
  | "outcome"
  | "withdraw"
  | "page"
  | "decision"
  | "take_back"
  | "keys"
  | "other";

export function requestKindOf(method: string, url: string): RequestKind {
  const [path = ""] = url.split("?");
  const [, area, ...rest] = path.split("/");
  if (area === "a") return method === "GET" ? "page" : rest[1] === "take-back" ? "take_back" : "decision";
  if (path === "/.well-known/jwks.json") return "keys";
  if (!path.startsWith("/api/v1/approvals")) return "other";
  if (method === "GET") return "wait";
  const verb = rest[3];
  if (verb === undefined) return "mint";
  return verb === "consume" || verb === "outcome" || verb === "withdraw" ? verb : "other";
}

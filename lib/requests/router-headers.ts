import type { IncomingMessage } from "node:http";

/**
 * Takes away what asks Next for parts of a page instead of the page (`RSC`, `Next-Router-…`, `Next-Action`): no page here does, and a
 * part answers 200 where the page answers 404, or 500 where the header is malformed.
 */
export function dropRouterHeaders({ headers }: Pick<IncomingMessage, "headers">): void {
  for (const name of Object.keys(headers)) if (name === "rsc" || name.startsWith("next-")) delete headers[name];
}

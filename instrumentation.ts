import { isConnectionLoss } from "./lib/problem";
import { setPageStatus } from "./lib/requests/page-status";

/** Called by Next when a page fails. Where the database is away the answer is 503: nothing is wrong with the request, it may be sent again. */
export function onRequestError(error: unknown): void {
  if (isConnectionLoss(error)) setPageStatus(503);
}

import type { RegisteredKey } from "../clients/cache";
import { isConnectionLoss, Problem } from "../problem";
import type { Service } from "../process";
import { statusAt } from "./approval";
import { findForClient } from "./find";
import { type StatusAnswer, statusAnswer } from "./status";

/**
 * The approval's status: at once when it is not pending, else when it is decided, expires, or `waitSeconds` (0–55) have passed.
 * A database that goes away meanwhile is a delay: the wait re-reads until its end (I14). Subscribes, reads, then parks, so no
 * decision falls between. Waits of one approval that wake together share one read of its row. A key that is revoked meanwhile ends its
 * waits at the next sweep, which is each 5 s. Errors: those of `findForClient`, `unauthorized`, `too_many_waits`, `integrity_failed`.
 */
export async function waitForDecision(
  service: Service,
  key: RegisteredKey,
  id: string,
  waitSeconds: number,
  abort?: AbortSignal,
): Promise<StatusAnswer> {
  const endsAt = performance.now() + waitSeconds * 1000;
  if (waitSeconds === 0) return statusAnswer(service, await findForClient(service, key, id));
  const ticket = service.hub.subscribe(id, key.client.id, key.keyId);
  try {
    for (;;) {
      const leftMs = endsAt - performance.now();
      if (ticket.isKeyRefused()) throw new Problem("unauthorized");
      const read = await findForClient(service, key, id, service.readParked).catch((error: unknown) => {
        if (!isConnectionLoss(error) || leftMs <= 0) throw error;
        return undefined;
      });
      if (
        read &&
        (statusAt(read.approval, read.now) !== "pending" || leftMs <= 0 || abort?.aborted || service.hub.isDraining())
      )
        return await statusAnswer(service, read);
      if (read) ticket.saw(read.approval.version);
      const dueMs = read
        ? read.approval.expiresAt.getTime() - read.now.getTime() + 5
        : reconnectMs * (1 + Math.random());
      await ticket.next(Math.min(Math.max(leftMs, 0), dueMs), abort);
    }
  } finally {
    ticket.close();
  }
}

/** How soon a wait tries to read again while the database is away, or up to twice as long, so that thousands do not come at once. */
const reconnectMs = 500;

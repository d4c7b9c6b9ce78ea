import type { RegisteredKey } from "../clients/cache";
import { isConnectionLoss, Problem } from "../problem";
import type { Service } from "../process";
import { type Approval, statusAt } from "./approval";
import { findForClient, requireOwn } from "./find";
import { isApprovalId } from "./id";
import { type StatusAnswer, statusAnswer } from "./status";
import type { Clocked } from "./store";

/** A row that waits which woke together have read once, with what is answered by it, made once as well. */
export type ParkedApproval = Clocked<Approval> & { answer?: Promise<StatusAnswer> };

/**
 * The approval's status: at once when it is not pending, else when it is decided, expires, or `waitSeconds` (0–55) have passed, and 3 s
 * later at the latest, whatever the database does. Subscribes, reads, then parks, so no decision falls between. Waits of one approval that
 * wake together share one read of its row; each judges for itself whether its key may know of it. A database that goes away meanwhile is a
 * delay: the wait re-reads until its end (I14). A key that is revoked meanwhile ends its waits at the next sweep, which is each 5 s.
 * Errors: those of `findForClient`, `unauthorized`, `too_many_waits`, `integrity_failed`, `unavailable`.
 */
export async function waitForDecision(
  service: Service,
  key: RegisteredKey,
  id: string,
  waitSeconds: number,
  abort?: AbortSignal,
): Promise<StatusAnswer> {
  if (waitSeconds === 0) return statusAnswer(service, await findForClient(service, key, id));
  const endsAt = performance.now() + waitSeconds * 1000;
  const ticket = service.hub.subscribe(id, key.client.id, key.keyId);
  const look = looking(service, key, id);
  try {
    for (;;) {
      const leftMs = Math.max(endsAt - performance.now(), 0);
      if (ticket.isKeyRefused()) throw new Problem("unauthorized");
      const read = await look(leftMs + overtimeMs).catch((error: unknown) => {
        if (!isConnectionLoss(error) || leftMs === 0) throw error;
        return undefined;
      });
      const isOver = leftMs === 0 || abort?.aborted || service.hub.isDraining();
      if (read && (statusAt(read.approval, read.now) !== "pending" || isOver)) return await answerOf(service, read);
      if (read) ticket.saw(read.approval.version);
      const dueMs = read
        ? read.approval.expiresAt.getTime() - read.now.getTime() + 5
        : reconnectMs * (1 + Math.random());
      await ticket.next(Math.min(leftMs, dueMs), abort);
    }
  } finally {
    ticket.close();
  }
}

/** How soon a wait tries to read again while the database is away, or up to twice as long, so that thousands do not come at once. */
const reconnectMs = 500;
/** How long the last read of a wait may take, beyond its end. */
const overtimeMs = 3_000;

/** Reads the row for this key, again and again. Keys are swept with the rows; where the database was away they are judged anew. */
function looking(service: Service, key: RegisteredKey, id: string): (withinMs: number) => Promise<ParkedApproval> {
  let held = key;
  let isDoubtful = false;
  const look = async () => {
    try {
      if (isDoubtful) held = await requireHeld(service, key.keyId);
      const read = isApprovalId(id) ? await service.readParked(id) : undefined;
      isDoubtful = false;
      return requireOwn(held, read);
    } catch (error) {
      isDoubtful ||= isConnectionLoss(error);
      throw error;
    }
  };
  return (withinMs) => within(withinMs, look());
}

async function requireHeld(service: Service, keyId: string): Promise<RegisteredKey> {
  const key = await service.clients.byKeyId(keyId);
  if (!key || key.isRevoked || key.client.isDisabled) throw new Problem("unauthorized");
  return key;
}

/** Errors: `unavailable` where it takes longer. */
async function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Problem("unavailable")), timeoutMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

function answerOf(service: Service, read: ParkedApproval): Promise<StatusAnswer> {
  read.answer ??= statusAnswer(service, read);
  return read.answer;
}

import type { Logger } from "../log";
import { Problem } from "../problem";
import { type News, type Seen, sweepParked } from "./sweep";
import { signal, ticketFor, type Waiter, type WaitTicket } from "./ticket";

/** Parked waits a client may hold in one process (section 6). */
export const waitsMaxPerClient = 500;

/**
 * Wakes parked waits of this process. A ticket taken before a row is read misses no change that the row does not show
 * yet; a notification that is lost is made up for by the sweep, which asks about every parked id, and the keys that the waits were asked
 * with, in one query.
 */
export function createWaitHub(options: HubOptions): WaitHub {
  const parked = new Map<string, Set<Waiter>>();
  const perClient = new Map<string, number>();
  let isDraining = false;

  function subscribe(id: string, clientId: string, keyId: string): WaitTicket {
    const count = perClient.get(clientId) ?? 0;
    if (count >= waitsMaxPerClient) throw new Problem("too_many_waits", { retryAfterSeconds: 1 });
    perClient.set(clientId, count + 1);
    const waiter: Waiter = { ...newWaiter, keyId, isSignalled: isDraining };
    const waiters = parked.get(id) ?? new Set();
    parked.set(id, waiters.add(waiter));
    return ticketFor(waiter, () => {
      if (!waiters.delete(waiter)) return;
      if (waiters.size === 0) parked.delete(id);
      const left = (perClient.get(clientId) ?? 1) - 1;
      if (left === 0) perClient.delete(clientId);
      else perClient.set(clientId, left);
    });
  }

  function notify(id: string): void {
    for (const waiter of parked.get(id) ?? []) signal(waiter);
  }

  function announce(id: string): void {
    notify(id);
    options
      .publish(id)
      .catch((error: Error) =>
        options.log.warn({ reason: error.message }, "a change was not announced; the sweep makes up for it"),
      );
  }

  function drain(): void {
    isDraining = true;
    for (const waiters of parked.values()) for (const waiter of waiters) signal(waiter);
  }

  return {
    subscribe,
    notify,
    announce,
    sweep: () => sweepParked(parked, options.readNews),
    drain,
    isDraining: () => isDraining,
    parkedCount: () => [...perClient.values()].reduce((sum, count) => sum + count, 0),
  };
}

const newWaiter = { seenVersion: undefined, isKeyRefused: false, wake: undefined };

export type HubOptions = {
  log: Logger;
  readNews(seen: Seen[], keyIds: string[]): Promise<News>;
  /** Tells the other processes, after the change is committed. */
  publish(id: string): Promise<void>;
};

export type WaitHub = {
  /** Errors: `too_many_waits`. */
  subscribe(id: string, clientId: string, keyId: string): WaitTicket;
  notify(id: string): void;
  /** Wakes here at once and tells the other processes; to be called after the commit. Never fails. */
  announce(id: string): void;
  sweep(): Promise<void>;
  /** Ends every wait, now and from now on: the process is going down. */
  drain(): void;
  isDraining(): boolean;
  parkedCount(): number;
};

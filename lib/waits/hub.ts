import type { Logger } from "../log";
import { Problem } from "../problem";

/** Parked waits a client may hold in one process (section 6). */
export const waitsMaxPerClient = 500;

/**
 * Wakes parked waits of this process. A ticket taken before a row is read misses no change that the row does not show
 * yet; a notification that is lost is made up for by the sweep, which re-reads every parked id in one query, and in another the keys
 * that the waits were asked with.
 */
export function createWaitHub(options: HubOptions): WaitHub {
  const parked = new Map<string, Set<Waiter>>();
  const perClient = new Map<string, number>();
  let isDraining = false;

  function subscribe(id: string, clientId: string, keyId: string): WaitTicket {
    const count = perClient.get(clientId) ?? 0;
    if (count >= waitsMaxPerClient) throw new Problem("too_many_waits", { retryAfterSeconds: 1 });
    perClient.set(clientId, count + 1);
    const waiter: Waiter = {
      keyId,
      seenVersion: undefined,
      isSignalled: isDraining,
      isKeyRefused: false,
      wake: undefined,
    };
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
    sweep: () => sweepParked(options, parked),
    drain,
    isDraining: () => isDraining,
    parkedCount: () => [...parked.values()].reduce((sum, waiters) => sum + waiters.size, 0),
  };
}

async function sweepParked(options: HubOptions, parked: ReadonlyMap<string, ReadonlySet<Waiter>>): Promise<void> {
  if (parked.size === 0) return;
  const keyIds = new Set([...parked.values()].flatMap((waiters) => [...waiters].map(({ keyId }) => keyId)));
  const [versions, refused] = await Promise.all([
    options.readVersions([...parked.keys()]),
    options.readRefusedKeys([...keyIds]),
  ]);
  for (const [id, waiters] of parked) {
    for (const waiter of waiters) {
      waiter.isKeyRefused ||= refused.has(waiter.keyId);
      const isNews = waiter.seenVersion !== undefined && versions.get(id) !== waiter.seenVersion;
      if (isNews || waiter.isKeyRefused) signal(waiter);
    }
  }
}

export type HubOptions = {
  log: Logger;
  readVersions(ids: string[]): Promise<Map<string, number>>;
  /** Which of these API keys are none any more: revoked, or of a client that is disabled. */
  readRefusedKeys(keyIds: string[]): Promise<Set<string>>;
  /** Tells the other processes, after the change is committed. */
  publish(id: string): Promise<void>;
};

export type WaitTicket = {
  /** Says which version the waiter has read, for the sweep. */
  saw(version: number): void;
  /** Whether the key that asked has been revoked meanwhile: then nothing more is told. */
  isKeyRefused(): boolean;
  /** Resolves on a signal (also one that came before), after `timeoutMs`, or when `abort` fires. */
  next(timeoutMs: number, abort?: AbortSignal): Promise<void>;
  close(): void;
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

type Waiter = {
  keyId: string;
  seenVersion: number | undefined;
  isSignalled: boolean;
  isKeyRefused: boolean;
  wake: (() => void) | undefined;
};

function signal(waiter: Waiter): void {
  waiter.isSignalled = true;
  waiter.wake?.();
}

function ticketFor(waiter: Waiter, close: () => void): WaitTicket {
  return {
    saw: (version) => {
      waiter.seenVersion = version;
    },
    isKeyRefused: () => waiter.isKeyRefused,
    next: (timeoutMs, abort) =>
      new Promise((resolve) => {
        const done = () => {
          clearTimeout(timer);
          abort?.removeEventListener("abort", done);
          waiter.wake = undefined;
          waiter.isSignalled = false;
          resolve();
        };
        const timer = setTimeout(done, Math.max(0, timeoutMs));
        if (waiter.isSignalled || abort?.aborted) return done();
        waiter.wake = done;
        abort?.addEventListener("abort", done);
      }),
    close,
  };
}

export type WaitTicket = {
  /** Says which version the waiter has read, for the sweep. */
  saw(version: number): void;
  /** Whether the key that asked has been revoked meanwhile: then nothing more is told. */
  isKeyRefused(): boolean;
  /** Resolves on a signal (also one that came before), after `timeoutMs`, or when `abort` fires. */
  next(timeoutMs: number, abort?: AbortSignal): Promise<void>;
  close(): void;
};

export type Waiter = {
  keyId: string;
  seenVersion: number | undefined;
  isSignalled: boolean;
  isKeyRefused: boolean;
  wake: (() => void) | undefined;
};

/** Wakes a waiter, now or, where it has yet to park, when it does. */
export function signal(waiter: Waiter): void {
  waiter.isSignalled = true;
  waiter.wake?.();
}

/** What the wait itself holds of a waiter. */
export function ticketFor(waiter: Waiter, close: () => void): WaitTicket {
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

/** Tells the worker of this process that there may be something in the outbox; without it, it looks each second. */
export type Bell = { ring(): void; onRing(listener: () => void): () => void };

export function createBell(): Bell {
  const listeners = new Set<() => void>();
  return {
    ring: () => {
      for (const listener of listeners) listener();
    },
    onRing: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

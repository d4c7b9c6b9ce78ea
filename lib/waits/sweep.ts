import { signal, type Waiter } from "./ticket";

/** An approval, and what version of it a wait has seen. */
export type Seen = { id: string; version: number };

export type News = {
  /** Of what was seen, what is another version now. */
  changed: Seen[];
  /** Of the API keys, those that are none any more: revoked, or of a client that is disabled. */
  refusedKeys: Set<string>;
};

/**
 * Asks in one query what has changed since the parked waits have read it, and which of their keys hold no more; signals those whom it
 * concerns.
 */
export async function sweepParked(
  parked: ReadonlyMap<string, ReadonlySet<Waiter>>,
  readNews: (seen: Seen[], keyIds: string[]) => Promise<News>,
): Promise<void> {
  const { seen, keyIds } = whatIsSeen(parked);
  if (keyIds.size === 0) return;
  const { changed, refusedKeys } = await readNews(seen, [...keyIds]);
  for (const { id, version } of changed)
    for (const waiter of parked.get(id) ?? []) if (waiter.seenVersion === version) signal(waiter);
  if (refusedKeys.size === 0) return;
  for (const waiters of parked.values())
    for (const waiter of waiters) {
      waiter.isKeyRefused ||= refusedKeys.has(waiter.keyId);
      if (waiter.isKeyRefused) signal(waiter);
    }
}

function whatIsSeen(parked: ReadonlyMap<string, ReadonlySet<Waiter>>): { seen: Seen[]; keyIds: Set<string> } {
  const seen: Seen[] = [];
  const keyIds = new Set<string>();
  for (const [id, waiters] of parked) {
    const versions = new Set<number>();
    for (const { keyId, seenVersion } of waiters) {
      keyIds.add(keyId);
      if (seenVersion !== undefined) versions.add(seenVersion);
    }
    for (const version of versions) seen.push({ id, version });
  }
  return { seen, keyIds };
}

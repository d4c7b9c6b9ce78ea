/**
 * Does one piece of work at a time for each key. A wake-up that comes while the work is under way is not lost in it, for the work may have
 * looked already: it starts anew afterwards, once for all that came meanwhile.
 */
export function createTurns<T>(work: (key: string) => Promise<T>): (key: string) => Promise<T> {
  const turns = new Map<string, { current: Promise<T>; next?: Promise<T> }>();
  const start = (key: string): Promise<T> => {
    const current = work(key);
    const turn: { current: Promise<T>; next?: Promise<T> } = { current };
    turns.set(key, turn);
    const done = () => {
      if (turns.get(key) === turn && turn.next === undefined) turns.delete(key);
    };
    current.then(done, done);
    return current;
  };
  return (key) => {
    const turn = turns.get(key);
    if (turn === undefined) return start(key);
    turn.next ??= turn.current.then(
      () => start(key),
      () => start(key),
    );
    return turn.next;
  };
}

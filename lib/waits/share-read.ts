/**
 * Joins reads of one thing that are asked for at the same moment: whoever asks before the read begins gets its result, whoever asks later
 * another one. So nobody gets what was read before they asked, and a thousand waiters that wake together read once.
 */
export function shareRead<T>(read: (id: string) => Promise<T>): (id: string) => Promise<T> {
  const asked = new Map<string, Promise<T>>();
  return (id) => {
    const joined = asked.get(id);
    if (joined !== undefined) return joined;
    // In the next turn of the loop, when all that woke now have asked.
    const reading = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      asked.delete(id);
      return read(id);
    });
    asked.set(id, reading);
    return reading;
  };
}

import { openConnection } from "./connection";
import type { Sent } from "./send";

export type Load = { perSecond: number; timesMs: number[] };

/**
 * Sends `count` requests over `concurrency` kept-alive connections, each as soon as the one before it was answered. Throws where an
 * answer has another status: an error must not pass for speed.
 */
export async function load(
  count: number,
  concurrency: number,
  status: number,
  make: (i: number) => Sent,
): Promise<Load> {
  const requests = Array.from({ length: count }, (_, i) => make(i));
  const connections = await Promise.all(
    Array.from({ length: concurrency }, () => openConnection(requests[0]?.url ?? "")),
  );
  const timesMs: number[] = [];
  const waiting = requests.values();
  const startedAt = performance.now();
  await Promise.all(
    connections.map(async (connection) => {
      for (const sent of waiting) {
        const sentAt = performance.now();
        const answer = await connection.ask(sent);
        timesMs.push(performance.now() - sentAt);
        if (answer.status !== status) throw new Error(`${sent.method} answered ${answer.status}: ${answer.text}`);
      }
    }),
  ).finally(() => {
    for (const connection of connections) connection.close();
  });
  return { perSecond: count / ((performance.now() - startedAt) / 1000), timesMs };
}

export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export const median = (values: number[]): number => quantile(values, 0.5);

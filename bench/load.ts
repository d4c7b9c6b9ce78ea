import { Agent, request } from "node:http";

export type Sent = { method: string; url: string; headers?: Record<string, string>; body?: string };
export type Load = { perSecond: number; p50Ms: number; p99Ms: number; statuses: Map<number, number> };

/** Sends `count` requests over `concurrency` kept-alive connections, each as soon as the one before it was answered. */
export async function load(count: number, concurrency: number, make: (i: number) => Sent): Promise<Load> {
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });
  const times: number[] = [];
  const statuses = new Map<number, number>();
  let next = 0;
  const startedAt = performance.now();
  const lane = async () => {
    for (let i = next++; i < count; i = next++) {
      const sentAt = performance.now();
      const { status } = await send(make(i), agent);
      times.push(performance.now() - sentAt);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, lane));
  const seconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  return { perSecond: count / seconds, p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99), statuses };
}

export function send(
  { method, url, headers = {}, body }: Sent,
  agent?: Agent,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sending = request(
      url,
      { method, headers: { ...headers, ...length }, ...(agent ? { agent } : {}) },
      (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
        response.on("error", reject);
      },
    );
    sending.on("error", reject);
    sending.end(body);
  });
}

export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

export const median = (values: number[]) => quantile(values, 0.5);

import { Agent, request } from "node:http";

export type Sent = { method: string; url: string; headers?: Record<string, string>; body?: string };
export type Answer = { status: number; headers: NodeJS.Dict<string | string[]>; bytes: Buffer };

const keptAlive = new Agent({ keepAlive: true });

/** One request by node:http, for what is not counted by the second. The bytes are as they came, compressed or not. */
export function send({ method, url, headers = {}, body }: Sent, agent: Agent = keptAlive): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { "content-length": String(Buffer.byteLength(body)) };
    const sending = request(url, { method, headers: { ...headers, ...length }, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
      response.on("error", reject);
    });
    sending.on("error", reject);
    sending.end(body);
  });
}

/** The answer's JSON. Throws where the status is another. */
export async function sendJson<T>(sent: Sent, status: number): Promise<T> {
  const { status: seen, bytes } = await send(sent);
  if (seen !== status) throw new Error(`${sent.method} ${sent.url} answered ${seen}: ${bytes}`);
  return JSON.parse(bytes.toString()) as T;
}

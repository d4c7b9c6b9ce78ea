import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  newerOnly,
  type Resumed,
  type Resumer,
  verifyWebhook,
  WebhookError,
  type WebhookEvent,
} from "@countersign/mcp";

export type ReceiverOptions = {
  resumer: Resumer;
  /** `whsec_…` of the endpoint; both while one takes the place of the other. */
  secret: string | string[];
  /** Default 0: a free port. */
  port?: number;
  /** Told what each event came to that was news. */
  onHandled?: (event: WebhookEvent, resumed: Resumed) => void;
  /** Told what the operator has to mend. */
  onTrouble?: (message: string) => void;
};

export type Receiver = {
  url: string;
  /** Resolves when everything that was answered has been worked off. */
  settled(): Promise<void>;
  close(): Promise<void>;
};

const MAX_BODY_BYTES = 65_536;

/**
 * `POST /webhooks`: verifies, answers, and only then works. Nothing is lost by that order, though a crash in between forgets the event: the
 * job is still there, and the sweep at the next start finds it.
 */
export async function serveWebhooks(options: ReceiverOptions): Promise<Receiver> {
  const { resumer, port = 0, onHandled, onTrouble = console.error } = options;
  const news = newerOnly();
  const working = new Set<Promise<void>>();
  const work = async (event: WebhookEvent): Promise<void> => {
    if (!(await news.isNews(event))) return;
    const resumed = await resumer.heed(event);
    // A wake-up that came to nothing may come again, and so may one that somebody else has made up under this number.
    if (resumed.kind === "ended") await news.remember(event);
    onHandled?.(event, resumed);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [status, event] = await receive(request, { ...options, onTrouble });
    // No connection is kept, so that a close has none to wait for.
    response.writeHead(status, { connection: "close" }).end();
    if (event === undefined) return;
    const done = work(event)
      .catch((error: unknown) => onTrouble(`webhook: the store of jobs failed: ${error}`))
      .finally(() => working.delete(done));
    working.add(done);
  };
  const http = createServer((request, response) => {
    // A sender that goes away in the middle ends its own request, and not this process.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/webhooks`,
    async settled() {
      while (working.size > 0) await Promise.all(working);
    },
    async close() {
      await new Promise<void>((resolve) => {
        http.close(() => resolve());
        http.closeIdleConnections();
      });
      while (working.size > 0) await Promise.all(working);
    },
  };
}

type Receiving = Pick<ReceiverOptions, "secret"> & { onTrouble: (message: string) => void };

async function receive(request: IncomingMessage, { secret, onTrouble }: Receiving): Promise<[number, WebhookEvent?]> {
  if (request.method !== "POST" || request.url !== "/webhooks") return [404];
  const body = await rawBody(request);
  if (body === undefined) return [413];
  try {
    return [204, verifyWebhook({ body, headers: request.headers, secret })];
  } catch (error) {
    if (!(error instanceof WebhookError)) throw error;
    // The sender learns no more than that; the words are for whoever runs this server.
    if (error.code === "bad_secret") onTrouble(`webhook: ${error.message}`);
    return [error.code === "bad_secret" ? 500 : 400];
  }
}

/** The bytes as they came: no framework's parser may have been at them. */
async function rawBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  // The connection has to outlive a body that is too long, for its answer.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

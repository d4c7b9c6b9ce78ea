import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook } from "standardwebhooks";

export type ReceivedEvent = { type: string; timestamp: string; data: Record<string, unknown> };
export type Received = { path: string; headers: Record<string, string>; body: string };
export type Answer = (received: Received, response: ServerResponse, request: IncomingMessage) => void;

export type WebhookReceiver = {
  url: string;
  received: Received[];
  /** What the receiver does with each request; at first it answers 204. */
  answer: Answer;
  /** The event of a request, verified by the reference library. Throws where the signature does not hold. */
  verify(received: Received, secret: string): ReceivedEvent;
  stop(): Promise<void>;
};

export const answerWith =
  (status: number, headers: Record<string, string> = {}): Answer =>
  (_received, response) => {
    response.writeHead(status, headers).end();
  };

/** An HTTP server as an operator of an MCP server would run it: it keeps what it gets, byte for byte. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const receiver: WebhookReceiver = {
    url: "",
    received: [],
    answer: answerWith(204),
    verify: (received, secret) => new Webhook(secret).verify(received.body, received.headers) as ReceivedEvent,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("error", () => {});
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const received = {
        path: request.url ?? "",
        headers: request.headers as Record<string, string>,
        body: Buffer.concat(parts).toString(),
      };
      receiver.received.push(received);
      receiver.answer(received, response, request);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  return receiver;
}

import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  request as sendRequest,
} from "node:http";
import { type Health, watchHealth } from "./fault-health";
import { type RequestKind, requestKindOf } from "./fault-request-kind";

/** What is to happen to one exchange beside being passed on. */
export type Blow = "cut_request" | "cut_response" | undefined;

export type Exchange = {
  kind: RequestKind;
  /** The replica that it goes to. */
  target: number;
};

export type FaultProxy = {
  url: string;
  /** Requests that were answered, by kind and status; `cut` where the client got no whole answer. */
  answers: Map<string, number>;
  isHealthy(target: number): boolean;
  /** How often a replica that was thought to be ready did not even take the connection. */
  refusals(): number;
  /** Resolves when as many replicas as named take requests. Throws after 60 s. */
  untilHealthy(count: number): Promise<void>;
  stop(): Promise<void>;
};

export type FaultProxyOptions = {
  port: number;
  /** Ports of the replicas on this machine. */
  targets: readonly number[];
  /** How often `/readyz` of each is asked. */
  probeMs?: number;
  onExchange?: (exchange: Exchange) => Blow;
};

/**
 * Balances over the replicas whose `/readyz` answers 200, as an operator's proxy would. What was not sent at all (the connection was refused)
 * goes to the next replica; what may have been worked on does not (RFC 9110 section 9.2.2), and is answered 502.
 */
export async function startFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const answers = new Map<string, number>();
  const health = watchHealth(options.targets, options.probeMs ?? 250);
  let turn = 0;
  const server = createServer((request, response) => {
    void readBody(request).then(
      (body) => {
        turn += 1;
        const candidates = options.targets.map((_, i) => (i + turn) % options.targets.length).filter(health.isHealthy);
        pass(
          {
            options,
            answers,
            health,
            request,
            response,
            body,
            kind: requestKindOf(request.method ?? "GET", request.url ?? "/"),
          },
          candidates,
        );
      },
      () => request.destroy(),
    );
  });
  server.requestTimeout = 0;
  server.keepAliveTimeout = 30_000;
  await new Promise<void>((resolve, reject) => server.once("error", reject).listen(options.port, resolve));
  return {
    url: `http://localhost:${options.port}`,
    answers,
    isHealthy: health.isHealthy,
    refusals: health.refusals,
    untilHealthy: health.untilHealthy,
    stop: async () => {
      health.stop();
      await closed(server);
    },
  };
}

type Passing = {
  options: FaultProxyOptions;
  answers: Map<string, number>;
  health: Health;
  request: IncomingMessage;
  response: ServerResponse;
  body: Buffer;
  kind: RequestKind;
};

function pass(passing: Passing, [target, ...others]: number[]): void {
  const { options, health, request, response, body, kind } = passing;
  if (target === undefined) {
    refuse(passing, 503);
    return;
  }
  const headers = { ...request.headers, connection: "close", "x-forwarded-for": request.socket.remoteAddress ?? "" };
  const upstream = sendRequest({
    host: "127.0.0.1",
    port: options.targets[target],
    method: request.method,
    path: request.url,
    headers,
    agent: false,
  });
  let blow: Blow;
  // Once it is connected the request is under way: from here on it may be worked on.
  const send = () => {
    blow = options.onExchange?.({ kind, target });
    if (blow === "cut_request") sendHalf(passing, upstream);
    else upstream.end(body);
  };
  upstream.on("socket", (socket) => socket.once("connect", send));
  upstream.on("response", (answer) => void forward(passing, answer, blow).catch(() => cut(passing)));
  upstream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED") {
      health.refused(target);
      pass(passing, others);
    } else if (response.headersSent) cut(passing);
    else refuse(passing, 502);
  });
  response.once("close", () => upstream.destroy());
}

function sendHalf(passing: Passing, upstream: ClientRequest): void {
  const { body } = passing;
  upstream.flushHeaders();
  if (body.length > 0) upstream.write(body.subarray(0, Math.floor(body.length / 2)));
  setTimeout(() => {
    upstream.destroy();
    cut(passing);
  }, 5);
}

async function forward(passing: Passing, answer: IncomingMessage, blow: Blow): Promise<void> {
  const { response, kind } = passing;
  const body = await readBody(answer);
  const { connection: _, "transfer-encoding": __, ...headers } = answer.headers;
  const status = answer.statusCode ?? 502;
  if (response.destroyed) return;
  if (blow === "cut_response") {
    if (body.length > 1) {
      response.writeHead(status, { ...headers, "content-length": body.length });
      response.write(body.subarray(0, Math.floor(body.length / 2)), () => cut(passing));
    } else cut(passing);
    return;
  }
  count(passing.answers, `${kind} ${status}`);
  response.writeHead(status, { ...headers, "content-length": body.length }).end(body);
}

function refuse({ response, kind, answers }: Passing, status: 502 | 503): void {
  if (response.destroyed || response.headersSent) return;
  count(answers, `${kind} proxy_${status}`);
  response.writeHead(status, { "retry-after": "1", "content-length": 0 }).end();
}

function cut({ response, kind, answers }: Passing): void {
  if (response.destroyed) return;
  count(answers, `${kind} cut`);
  response.destroy();
}

const count = (counts: Map<string, number>, key: string) => counts.set(key, (counts.get(key) ?? 0) + 1);

async function readBody(message: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of message) parts.push(part as Buffer);
  return Buffer.concat(parts);
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

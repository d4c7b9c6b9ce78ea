import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  status: { code: number };
  attributes: { key: string; value: Record<string, string | number> }[];
};

/** A collector of traces (OTLP over HTTP, JSON): keeps what it is sent, and answers as `answer` says. */
export async function startCollector(answer: (response: ServerResponse) => void = accept) {
  const requests: { path: string; headers: Record<string, unknown>; body: string }[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (part: string) => {
      body += part;
    });
    request.on("end", () => {
      requests.push({ path: request.url ?? "", headers: request.headers, body });
      answer(response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    settings: { endpoint, headers: { "x-team": "crm" }, serviceName: "countersign-test" },
    requests,
    spans: () => requests.flatMap(({ body }) => spansOf(body)),
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The attributes of a span as an object. */
export function attributesOf(span: OtlpSpan | undefined): Record<string, string | number | undefined> {
  return Object.fromEntries((span?.attributes ?? []).map(({ key, value }) => [key, Object.values(value)[0]]));
}

const accept = (response: ServerResponse) =>
  void response.writeHead(200, { "content-type": "application/json" }).end("{}");

function spansOf(body: string): OtlpSpan[] {
  const { resourceSpans } = JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createFakeState, type Fault, fakeControls, type Route } from "@countersign/mcp/fake";
import { serveFake } from "@countersign/mcp/fake/serve";
import type { FakeState } from "@countersign/mcp/fake/state";

/** The kit's stand-in for Countersign behind a real port, so that connections can break. */
export async function startFakeService() {
  const http = createServer((req, res) => void serve(fake, req, res).catch(() => res.destroy()));
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const fake = await createFakeState({ url, clientId: "cli_crm" });
  const { bus } = fake;
  return {
    ...fake,
    ...fakeControls(fake),
    plan: (route: Route, fault: Fault) => void fake.faults.push({ route, fault }),
    /** Happens before each request of a route is handled. */
    before: (route: Route, hook: () => Promise<void>) => void fake.hooks.set(route, hook),
    count: (route: Route) => fake.seen.filter((request) => request.route === route).length,
    nextMint: async () => String((await once(bus, "minted"))[0]),
    nextParked: async (id: string) => void (await once(bus, `parked ${id}`)),
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

export type FakeService = Awaited<ReturnType<typeof startFakeService>>;

async function serve(fake: FakeState, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const gone = new AbortController();
  res.once("close", () => gone.abort());
  const body = await textOf(req);
  const { method = "GET", url = "/", headers } = req;
  const request = new Request(new URL(url, fake.url), {
    method,
    headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
    signal: gone.signal,
    ...(body === "" ? {} : { body }),
  });
  const response = await serveFake(fake, request);
  if (response === undefined) return void res.destroy();
  res.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
}

async function textOf(req: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

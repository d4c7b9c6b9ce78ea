import { callerFromAuthInfo, createGate } from "@countersign/mcp";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { ALICE, apollo, setStage } from "./crm";
import { type FakeService, startFakeService } from "./fake-service";
import { requestOf } from "./raw-round";
import { startV1Server } from "./v1-server";

/** A stream of events as it comes, byte by byte. */
function listenTo(response: Response) {
  let heard = "";
  const waiting: { text: RegExp; resolve: () => void }[] = [];
  const ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      heard += decoder.decode(chunk, { stream: true });
      for (const { text, resolve } of waiting) if (text.test(heard)) resolve();
    }
  })();
  return {
    ended,
    heard: () => heard,
    hears: (text: RegExp) =>
      new Promise<void>((resolve) => {
        waiting.push({ text, resolve });
        if (text.test(heard)) resolve();
      }),
  };
}

/** Makes the service stumble once in the wait, so that progress is told then, and says when it waits again. */
function stumbleOnce(service: FakeService, after: number) {
  let reads = 0;
  service.before("status", async () => {
    reads += 1;
    // Each look is tried twice.
    if (reads > after && reads <= after + 2)
      service.plan("status", { kind: "refuse", problem: { status: 503, code: "unavailable" } });
  });
}

describe("S35: revision 2026-07-28", () => {
  it("after a waiting round is cancelled not a byte follows, though its client asked for progress and the person accepts", async () => {
    const service = await startFakeService();
    onTestFinished(service.close);
    let tellEnded = (_ending: unknown) => {};
    const over = new Promise((resolve) => {
      tellEnded = resolve;
    });
    const { url, apiKey } = service;
    const gate = createGate({
      url,
      apiKey,
      resolveCaller: callerFromAuthInfo,
      onEvent: (event) => {
        if (event.type === "not_run") tellEnded(event.ending);
      },
    });
    let ran = 0;
    const mcp = createMcpHandler(
      () => {
        const server = new McpServer({ name: "small", version: "1.0.0" });
        const spec = { server, tool: "do_it", tier: 3, inputSchema: z.object({}) } as const;
        gate.guard({ ...spec, presentation: () => ({ title: "Do it" }) }, () => {
          ran += 1;
          return { content: [] };
        });
        return server;
      },
      { legacy: "reject", responseMode: "sse" },
    );
    onTestFinished(() => mcp.close());
    const extra = { iss: "https://as.example.com", sub: "alice" };
    const authInfo = { token: "t", clientId: "chat-app", scopes: [], extra };
    const call = { url: "http://127.0.0.1/", tool: "do_it", progressToken: "p" };

    const asked = await (await mcp.fetch(requestOf(call), { authInfo })).text();
    const [requestState] = service.approvals.keys();
    expect(asked).toContain(requestState);
    // The first look tells whose approval it is; then the wait begins.
    stumbleOnce(service, 1);
    const parked = service.nextParked(requestState ?? "");
    const stop = new AbortController();
    const round = requestOf({ ...call, requestState, signal: stop.signal });
    const stream = listenTo(await mcp.fetch(round, { authInfo }));
    await stream.hears(/notifications\/progress/);
    await parked;
    const before = stream.heard();
    stop.abort();
    expect(await over).toBe("interrupted");
    await service.decide(requestState ?? "", "accept");
    await mcp.close();
    await stream.ended;
    expect(stream.heard()).toBe(before);
    expect([ran, service.count("consume")]).toEqual([0, 0]);
  });
});

/** A session of revision 2025-11-25, written by hand. */
async function openSession(url: string, token: string) {
  let session: string | undefined;
  let requests = 0;
  const post = async (message: Record<string, unknown>) => {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${token}`,
        ...(session === undefined ? {} : { "mcp-session-id": session, "mcp-protocol-version": "2025-11-25" }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", ...message }),
    });
    expect(response.status).toBeLessThan(300);
    session ??= response.headers.get("mcp-session-id") ?? undefined;
    return response;
  };
  const request = async (method: string, params: Record<string, unknown>) => {
    requests += 1;
    return await post({ id: requests, method, params });
  };
  const capabilities = { elicitation: { url: {} } };
  const clientInfo = { name: "raw", version: "1" };
  const opened = await request("initialize", { protocolVersion: "2025-11-25", capabilities, clientInfo });
  await opened.text();
  await post({ method: "notifications/initialized" });
  return {
    post,
    request,
    lastId: () => requests,
    async end() {
      const headers = { authorization: `Bearer ${token}`, "mcp-session-id": String(session) };
      await fetch(url, { method: "DELETE", headers: { ...headers, "mcp-protocol-version": "2025-11-25" } });
    },
  };
}

type Guarded = { url: string; service: FakeService; tool: string; args: Record<string, unknown>; runs: () => number };

async function setV2(tellEnded: (ending: unknown) => void): Promise<Guarded> {
  const stage = await setStage({ onEvent: (event) => void (event.type === "not_run" && tellEnded(event.ending)) });
  return { url: stage.crm.url, service: stage.service, tool: "delete_project", args: apollo, runs: stage.runs };
}

async function setV1(tellEnded: (ending: unknown) => void): Promise<Guarded> {
  const service = await startFakeService();
  onTestFinished(service.close);
  let ran = 0;
  const { url } = await startV1Server({
    service,
    gate: { onEvent: (event) => void (event.type === "not_run" && tellEnded(event.ending)) },
    addTools: (server, gate) => {
      const spec = { server, tool: "do_it", tier: 3, inputSchema: {} } as const;
      gate.guard({ ...spec, presentation: () => ({ title: "Do it" }) }, () => {
        ran += 1;
        return { content: [] };
      });
    },
  });
  return { url, service, tool: "do_it", args: {}, runs: () => ran };
}

const OPENED = "once the link was opened";
const UNANSWERED = "while the prompt is open";

describe("S35: revision 2025-11-25", () => {
  it.each([
    ["SDK v2", OPENED, setV2],
    ["SDK v2", UNANSWERED, setV2],
    ["SDK v1", OPENED, setV1],
    ["SDK v1", UNANSWERED, setV1],
  ] as const)(
    "over %s: after a waiting call is cancelled %s not a byte follows but to take back the prompt",
    async (_, when, set) => {
      let tellEnded = (_ending: unknown) => {};
      const over = new Promise((resolve) => {
        tellEnded = resolve;
      });
      const { url, service, tool, args, runs } = await set((ending) => tellEnded(ending));
      const session = await openSession(url, ALICE);
      stumbleOnce(service, 0);
      const minted = service.nextMint();
      const call = { name: tool, arguments: args, _meta: { progressToken: "p" } };
      const stream = listenTo(await session.request("tools/call", call));
      const requestId = session.lastId();
      const id = await minted;
      await Promise.all([service.nextParked(id), stream.hears(/elicitation\/create/)]);
      await stream.hears(/notifications\/progress/);
      const [prompt] = messagesIn(stream.heard()).filter(({ method }) => method === "elicitation/create");
      if (when === OPENED) await session.post({ id: prompt?.id, result: { action: "accept" } });
      const before = stream.heard();
      await session.post({ method: "notifications/cancelled", params: { requestId } });
      expect(await over).toBe("interrupted");
      await service.decide(id, "accept");
      // Whatever the session still has to say is said before this is answered and the session is over.
      await (await session.request("tools/list", {})).text();
      await session.end();
      await stream.ended;
      const after = stream.heard().slice(before.length);
      if (when === OPENED) expect(after).toBe("");
      expect(messagesIn(after)).toMatchObject(
        when === OPENED ? [] : [{ method: "notifications/cancelled", params: { requestId: prompt?.id } }],
      );
      expect([runs(), service.count("consume")]).toEqual([0, 0]);
    },
  );
});

function messagesIn(events: string) {
  return [...events.matchAll(/^data: (\{.*\})$/gm)].map(
    (match) => JSON.parse(match[1] ?? "") as { id?: number; method?: string; params?: Record<string, unknown> },
  );
}

/** Which tools a token may call: the credential's ceiling, under whatever a person approves. */
export type Scopes = {
  /** The scope of a tool: `tools:call:<tool>` (RFC 6749 section 3.3 allows every character of a tool's name). */
  of(tool: string): string;
  /** The scopes of every tool that is registered by now, in order: for `scopes_supported` of RFC 9728. */
  all(): string[];
};

export type ScopeLedger = Scopes & { add(tool: string): void; has(tool: string): boolean };

const PREFIX = "tools:call:";

export function createScopeLedger(): ScopeLedger {
  const tools: string[] = [];
  const of = (tool: string) => PREFIX + tool;
  return { of, all: () => tools.map(of), add: (tool) => void tools.push(tool), has: (tool) => tools.includes(tool) };
}

/** Whether a token's scopes let it call a tool; without a token nothing does. Scopes are compared whole. */
export function maySee(scopes: readonly string[] | undefined, tool: string): boolean {
  return scopes?.includes(PREFIX + tool) === true;
}

type ListHandler = (request: unknown, ctx: unknown) => unknown;

/**
 * Puts a filter behind a server's own answer to `tools/list`, with whatever it says of each tool. Neither SDK has a place for that, so the
 * table of its handlers is used, which is the same in both.
 * @throws TypeError where the SDK has no such table, or nothing in it yet: then nothing would be filtered
 */
export function filterToolList(
  server: object,
  filter: (tools: readonly { name: string }[], ctx: unknown) => Readonly<Record<string, unknown>>,
): void {
  const handlers = (server as { _requestHandlers?: unknown })._requestHandlers;
  if (!(handlers instanceof Map)) throw new TypeError("scopes: this version of the MCP SDK is not known");
  const list = handlers.get("tools/list") as ListHandler | undefined;
  if (list === undefined) throw new TypeError("scopes: the server has no tools yet");
  handlers.set("tools/list", async (request: unknown, ctx: unknown) => {
    const result = (await list(request, ctx)) as { tools: { name: string }[] };
    return { ...result, ...filter(result.tools, ctx) };
  });
}

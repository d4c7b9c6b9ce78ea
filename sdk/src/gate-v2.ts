import { randomBytes } from "node:crypto";
import {
  type CallToolResult,
  createRequestStateCodec,
  type Icon,
  type InputRequiredResult,
  type McpServer,
  type RegisteredTool,
  requireScopes,
  type ServerContext,
  type StandardSchemaWithJSON,
} from "@modelcontextprotocol/server";
import { createCoreGate } from "./gate/create";
import { FORM_SECONDS, type StateCodec } from "./gate/form-states";
import type { GateOptions as CoreOptions } from "./gate/options";
import { registrationOf } from "./gate/registered";
import { createScopeLedger, filterToolList, maySee, type ScopeLedger, type Scopes } from "./gate/scopes";
import type { Grants, Tier, TierSpecs } from "./gate/spec";
import { type Annotations, definedOnly } from "./gate/tiers";
import { toSdkResult, viewCall } from "./gate/view-v2";

export type GateOptions = CoreOptions<ServerContext> & {
  /**
   * Seals the states of forms (tier 2, and tier 3 with `formFallback`) on their way through the MCP client: at least 32 bytes. Default: random,
   * so that only this process takes its forms back, and each once. Replicas that share a key take one another's, once each.
   */
  formKey?: Uint8Array;
};

/** A tool with its tier: what `registerTool` takes, and what the tier needs. */
export type GuardSpec<T extends Tier, Input extends StandardSchemaWithJSON> = {
  /** The server that the tool is registered on: what its MCP client can do is read there. */
  server: McpServer;
  /** The tool's name: `[A-Za-z0-9_.-]{1,128}`. */
  tool: string;
  /** How dangerous it is by the worst that it can do; 4 is refused. */
  tier: T;
  title?: string;
  description?: string;
  inputSchema: Input;
  outputSchema?: StandardSchemaWithJSON;
  icons?: Icon[];
  /** Added to those that follow from the tier; a contradiction is refused. */
  annotations?: Annotations;
  _meta?: Record<string, unknown>;
} & TierSpecs<StandardSchemaWithJSON.InferOutput<Input>, ServerContext>[T];

export type GuardedHandler<T extends Tier, Input extends StandardSchemaWithJSON> = (
  args: StandardSchemaWithJSON.InferOutput<Input>,
  ctx: ServerContext,
  grant: Grants[T],
) => CallToolResult | Promise<CallToolResult>;

export type Gate = {
  /**
   * Registers a tool that runs as its tier demands. One of tier 3 runs once, with exactly the arguments that a person saw and accepted,
   * or not at all. Every other ending is a result whose text says that nothing ran and what to do (I13).
   * @throws TypeError for tier 4, a contradiction or a bad name; RangeError for a figure outside its bounds
   */
  guard<const T extends Tier, Input extends StandardSchemaWithJSON>(
    spec: GuardSpec<T, Input>,
    handler: GuardedHandler<T, Input>,
  ): RegisteredTool;
  /**
   * For `new McpServer(info, { requestState: { verify: gate.verifyRequestState } })`: a state that is neither an approval of this caller nor
   * a form of this server is answered with -32602 before the tool is entered. Without it the tool itself refuses, as an `isError` result.
   */
  verifyRequestState(state: string, ctx: ServerContext): Promise<undefined>;
  /**
   * Makes the token's scopes the ceiling of a server's guarded tools; call it before the first of them. Each needs `tools:call:<tool>`: without
   * it the tool is not listed, and a call is answered 403 `insufficient_scope` with what to ask for (and refused on transports that
   * have no such answer).
   * @throws TypeError where the server has a guarded tool already
   */
  scopes(server: McpServer): Scopes;
};

/**
 * Makes the gate between the tools of an MCP server (SDK v2) and Countersign.
 * @throws TypeError for options of the wrong form, RangeError for a figure outside its bounds; both name the option
 */
export function createGate(options: GateOptions): Gate {
  const core = createCoreGate(options, stateCodec(options.formKey ?? randomBytes(32)));
  const ledgers = new WeakMap<McpServer, ScopeLedger>();
  const guarded = new WeakSet<McpServer>();
  return {
    guard(spec, handler) {
      const { server, title, description, inputSchema, outputSchema, icons } = spec;
      const { tool, annotations, _meta } = registrationOf<ServerContext>(spec, handler);
      const ledger = ledgers.get(server);
      const config = {
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        ...(outputSchema === undefined ? {} : { outputSchema }),
        ...(icons === undefined ? {} : { icons }),
        inputSchema: inputSchema as StandardSchemaWithJSON,
        annotations: definedOnly(annotations),
        ...(ledger === undefined ? {} : { scopeChallenge: requireScopes(ledger.of(spec.tool)) }),
        _meta,
      };
      const serve = async (args: unknown, ctx: ServerContext): Promise<CallToolResult | InputRequiredResult> => {
        const isInScope = ledger === undefined || maySee(ctx.http?.authInfo?.scopes, spec.tool);
        return toSdkResult(await core.serve(tool, { args, ctx, mcp: viewCall(server, ctx), isInScope }), options.url);
      };
      const registered = server.registerTool(spec.tool, config, serve);
      if (ledger !== undefined && ledger.all().length === 0) filterByScopes(server, ledger.has);
      ledger?.add(spec.tool);
      guarded.add(server);
      return registered;
    },
    scopes(server) {
      if (guarded.has(server)) throw new TypeError("scopes must be called before the server's first guarded tool");
      const ledger = ledgers.get(server) ?? createScopeLedger();
      ledgers.set(server, ledger);
      return { of: ledger.of, all: ledger.all };
    },
    async verifyRequestState(state, ctx) {
      await core.verifyRequestState(state, ctx);
      return undefined;
    },
  };
}

function stateCodec(key: Uint8Array): StateCodec {
  const codec = createRequestStateCodec({ key, ttlSeconds: FORM_SECONDS });
  // The codec looks at the context only to bind to it; ours binds to the caller and the arguments, which only the tool knows.
  const anyContext = undefined as unknown as ServerContext;
  return { seal: (payload) => codec.mint(payload), open: (state) => codec.verify(state, anyContext) };
}

/** What is listed depends on the token, so that nobody but its holder may keep the answer (revision 2026-07-28). */
function filterByScopes(server: McpServer, isGuarded: (tool: string) => boolean): void {
  filterToolList(server.server, (tools, ctx) => {
    const scopes = (ctx as ServerContext).http?.authInfo?.scopes;
    const kept = tools.filter(({ name }) => !isGuarded(name) || maySee(scopes, name));
    const isModern = (server.server.getNegotiatedProtocolVersion() ?? "") >= "2026-07-28";
    return { tools: kept, ...(isModern ? { cacheScope: "private" } : {}) };
  });
}

import type { McpServer, RegisteredTool, ToolCallback } from "@modelcontextprotocol/sdk/server/mcp.js";
import type {
  AnySchema,
  SchemaOutput,
  ShapeOutput,
  ZodRawShapeCompat,
} from "@modelcontextprotocol/sdk/server/zod-compat.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult, ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Caller } from "./api-types";
import { callerFromAuthInfo, configuredCaller, type ResolveCaller } from "./gate/caller";
import { createCoreGate } from "./gate/create";
import type { GateOptions as CoreOptions, GateEvent } from "./gate/options";
import { registrationOf } from "./gate/registered";
import { createScopeLedger, filterToolList, maySee, type ScopeLedger, type Scopes } from "./gate/scopes";
import type { EndedCall, EndingHook, Grant, Grants, Tier, TierSpecs, WriteGrant } from "./gate/spec";
import type { Ending } from "./gate/texts";
import { type Annotations, definedOnly } from "./gate/tiers";
import { toSdkResult, viewCall } from "./gate/view-v1";

export {
  type Caller,
  callerFromAuthInfo,
  configuredCaller,
  type EndedCall,
  type Ending,
  type EndingHook,
  type GateEvent,
  type Grant,
  type ResolveCaller,
  type Tier,
  type WriteGrant,
};

/** What SDK v1 gives a tool's handler beside the arguments. */
export type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
export type GateOptions = CoreOptions<Extra>;

type Input = ZodRawShapeCompat | AnySchema;
type Output<S extends Input> = S extends ZodRawShapeCompat
  ? ShapeOutput<S>
  : S extends AnySchema
    ? SchemaOutput<S>
    : never;

/** A tool with its tier: what `registerTool` takes, and what the tier needs. */
export type GuardSpec<T extends Tier, S extends Input> = {
  /** The server that the tool is registered on: what its MCP client can do is read there. */
  server: McpServer;
  /** The tool's name: `[A-Za-z0-9_.-]{1,128}`. */
  tool: string;
  /** How dangerous it is by the worst that it can do; 4 is refused. */
  tier: T;
  title?: string;
  description?: string;
  inputSchema: S;
  outputSchema?: Input;
  /** Added to those that follow from the tier; a contradiction is refused. */
  annotations?: Annotations;
  _meta?: Record<string, unknown>;
} & TierSpecs<Output<S>, Extra>[T];

export type GuardedHandler<T extends Tier, S extends Input> = (
  args: Output<S>,
  extra: Extra,
  grant: Grants[T],
) => CallToolResult | Promise<CallToolResult>;

export type Gate = {
  /**
   * Registers a tool that runs as its tier demands. One of tier 3 runs once, with exactly the arguments that a person saw and accepted,
   * or not at all. Every other ending is a result whose text says that nothing ran and what to do (I13).
   * @throws TypeError for tier 4, a contradiction or a bad name; RangeError for a figure outside its bounds
   */
  guard<const T extends Tier, S extends Input>(spec: GuardSpec<T, S>, handler: GuardedHandler<T, S>): RegisteredTool;
  /**
   * Makes the token's scopes the ceiling of a server's guarded tools; call it before the first of them. Each needs `tools:call:<tool>`: without
   * it the tool is not listed, and a call is refused. SDK v1 has no answer of status 403 for it: give that yourself, with `challenge`.
   * @throws TypeError where the server has a guarded tool already
   */
  scopes(server: McpServer): ChallengingScopes;
};

export type ChallengingScopes = Scopes & {
  /**
   * The answer to a request whose token lacks the scope of the tool that it calls (RFC 6750 section 3.1): status 403 with what to ask for.
   * `undefined`: nothing is in its way. Look here before the transport gets the request.
   */
  challenge(
    body: unknown,
    scopes: readonly string[] | undefined,
    resourceMetadataUrl?: string,
  ): { status: 403; headers: { "WWW-Authenticate": string } } | undefined;
};

/**
 * Makes the gate between the tools of an MCP server (SDK v1, 1.32) and Countersign.
 * @throws TypeError for options of the wrong form, RangeError for a figure outside its bounds; both name the option
 */
export function createGate(options: GateOptions): Gate {
  const core = createCoreGate(options);
  const ledgers = new WeakMap<McpServer, ScopeLedger>();
  const guarded = new WeakSet<McpServer>();
  return {
    guard(spec, handler) {
      const { server, title, description, inputSchema, outputSchema } = spec;
      const { tool, annotations, _meta } = registrationOf<Extra>(spec, handler);
      const ledger = ledgers.get(server);
      const config = {
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        ...(outputSchema === undefined ? {} : { outputSchema }),
        inputSchema: inputSchema as Input,
        annotations: definedOnly(annotations),
        _meta,
      };
      const serve = async (args: unknown, extra: Extra): Promise<CallToolResult> => {
        const isInScope = ledger === undefined || maySee(extra.authInfo?.scopes, spec.tool);
        return toSdkResult(await core.serve(tool, { args, ctx: extra, mcp: viewCall(server, extra), isInScope }));
      };
      const registered = server.registerTool<Input, Input>(spec.tool, config, serve as ToolCallback<Input>);
      if (ledger !== undefined && ledger.all().length === 0) filterByScopes(server, ledger.has);
      ledger?.add(spec.tool);
      guarded.add(server);
      return registered;
    },
    scopes(server) {
      if (guarded.has(server)) throw new TypeError("scopes must be called before the server's first guarded tool");
      const ledger = ledgers.get(server) ?? createScopeLedger();
      ledgers.set(server, ledger);
      return {
        of: ledger.of,
        all: ledger.all,
        challenge: (body, scopes, metadataUrl) => challengeFor(ledger, { body, scopes, metadataUrl }),
      };
    },
  };
}

function filterByScopes(server: McpServer, isGuarded: (tool: string) => boolean): void {
  filterToolList(server.server, (tools, extra) => {
    const scopes = (extra as Extra).authInfo?.scopes;
    return { tools: tools.filter(({ name }) => !isGuarded(name) || maySee(scopes, name)) };
  });
}

const callSchema = z.looseObject({ method: z.literal("tools/call"), params: z.looseObject({ name: z.string() }) });

type Challenged = { body: unknown; scopes: readonly string[] | undefined; metadataUrl: string | undefined };

function challengeFor(ledger: ScopeLedger, { body, scopes, metadataUrl }: Challenged) {
  const messages: unknown[] = Array.isArray(body) ? body : [body];
  const names = messages.flatMap((message) => callSchema.safeParse(message).data?.params.name ?? []);
  const lacking = names.filter((name) => ledger.has(name) && !maySee(scopes, name)).map(ledger.of);
  if (lacking.length === 0) return undefined;
  const more = metadataUrl === undefined ? "" : `, resource_metadata="${metadataUrl}"`;
  const header = `Bearer error="insufficient_scope", scope="${[...new Set(lacking)].join(" ")}"${more}`;
  return { status: 403 as const, headers: { "WWW-Authenticate": header } };
}

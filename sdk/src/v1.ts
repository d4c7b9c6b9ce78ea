import type { McpServer, RegisteredTool, ToolCallback } from "@modelcontextprotocol/sdk/server/mcp.js";
import type {
  AnySchema,
  SchemaOutput,
  ShapeOutput,
  ZodRawShapeCompat,
} from "@modelcontextprotocol/sdk/server/zod-compat.js";
import type { RequestHandlerExtra } from "@modelcontextprotocol/sdk/shared/protocol.js";
import type { CallToolResult, ServerNotification, ServerRequest } from "@modelcontextprotocol/sdk/types.js";
import type { Caller } from "./api-types";
import { callerFromAuthInfo, configuredCaller, type ResolveCaller } from "./gate/caller";
import { createCoreGate } from "./gate/create";
import type { GateOptions as CoreOptions, GateEvent } from "./gate/options";
import { registrationOf } from "./gate/registered";
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
};

/**
 * Makes the gate between the tools of an MCP server (SDK v1, 1.32) and Countersign.
 * @throws TypeError for options of the wrong form, RangeError for a figure outside its bounds; both name the option
 */
export function createGate(options: GateOptions): Gate {
  const core = createCoreGate(options);
  return {
    guard(spec, handler) {
      const { server, title, description, inputSchema, outputSchema } = spec;
      const { tool, annotations, _meta } = registrationOf<Extra>(spec, handler);
      const config = {
        ...(title === undefined ? {} : { title }),
        ...(description === undefined ? {} : { description }),
        ...(outputSchema === undefined ? {} : { outputSchema }),
        inputSchema: inputSchema as Input,
        annotations: definedOnly(annotations),
        _meta,
      };
      const serve = async (args: unknown, extra: Extra): Promise<CallToolResult> =>
        toSdkResult(await core.serve(tool, { args, ctx: extra, mcp: viewCall(server, extra) }));
      return server.registerTool<Input, Input>(spec.tool, config, serve as ToolCallback<Input>);
    },
  };
}

import { resolvedCaller } from "./caller";
import { NotRun } from "./endings";
import type { StateCodec } from "./form-states";
import { type AnyTool, type Given, serve } from "./guard";
import type { Served } from "./mcp-call";
import type { GateOptions } from "./options";
import { createParts, type GateParts } from "./parts";
import { readState } from "./request-state";
import type { ToolResult } from "./spec";

/** A gate without an SDK around it; `../v2` and `../v1` are made of it. */
export type CoreGate<Ctx> = {
  parts: GateParts<Ctx>;
  serve(tool: AnyTool<Ctx>, given: Given<Ctx>): Promise<Served<ToolResult>>;
  /** @throws NotRun `invalid_state` for a state that is neither an approval of this caller nor a form of this server */
  verifyRequestState(state: string, ctx: Ctx): Promise<void>;
};

/** @throws RangeError or TypeError for options of the wrong form */
export function createCoreGate<Ctx>(options: GateOptions<Ctx>, codec?: StateCodec): CoreGate<Ctx> {
  const parts = createParts(options, codec);
  return {
    parts,
    serve: (tool, given) => serve(parts, tool, given),
    async verifyRequestState(state, ctx) {
      if (codec !== undefined && (await isGenuine(codec, state))) return;
      const caller = await resolvedCaller(options.resolveCaller, ctx);
      // Whatever is not the state's fault is left to the tool, which says so in a text that the agent can read.
      if (caller === undefined) return;
      await readState(parts.api, state, caller).catch((error: unknown) => {
        if (error instanceof NotRun && error.ending === "invalid_state") throw error;
      });
    },
  };
}

/** Whose form it is, and for what, is looked at where the arguments are known. */
async function isGenuine(codec: StateCodec, state: string): Promise<boolean> {
  return await codec.open(state).then(
    () => true,
    () => false,
  );
}

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../digest";
import { NotRun } from "./endings";
import type { AskingCall } from "./guarded-call";

/** Seals a state for its way through the MCP client and back; the SDK's codec, keyed and with an expiry. `open` rejects what is not genuine or late. */
export type StateCodec = { seal: (payload: unknown) => Promise<string>; open: (state: string) => Promise<unknown> };

/** The states of forms: each is for one caller, tool and arguments, and is answered once. */
export type FormStates = {
  issue(call: AskingCall): Promise<string>;
  /** @throws NotRun `invalid_state` for a state of another call, one that is late or not genuine, and one that was answered already */
  spend(call: AskingCall, state: unknown): Promise<void>;
};

/** How long a form may stay open. */
export const FORM_SECONDS = 300;

const payloadSchema = z.object({ nonce: z.string().min(1), bound: z.string().min(1) });

export function createFormStates(codec: StateCodec | undefined): FormStates {
  const spent = new Map<string, number>();
  return {
    async issue(call) {
      if (codec === undefined) throw new NotRun("internal");
      const nonce = randomBytes(16).toString("base64url");
      return await codec.seal({ nonce, bound: bindingOf(call, nonce) });
    },
    async spend(call, state) {
      const opened = typeof state === "string" ? await codec?.open(state).catch(() => undefined) : undefined;
      const payload = payloadSchema.safeParse(opened).data;
      if (payload === undefined || !isSame(payload.bound, bindingOf(call, payload.nonce)))
        throw new NotRun("invalid_state");
      forgetOld(spent);
      if (spent.has(payload.nonce)) throw new NotRun("invalid_state");
      spent.set(payload.nonce, performance.now());
    },
  };
}

/** A digest, so that the MCP client reads nobody's identity or arguments in the state that it carries. */
function bindingOf({ caller, action }: AskingCall, nonce: string): string {
  const { iss, sub, clientId = null } = caller;
  return createHash("sha256")
    .update(canonicalJson(["form", iss, sub, clientId, action.tool, action.arguments, nonce]))
    .digest("base64url");
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** A nonce outlives its state, and no longer; insertion order is that of time. */
function forgetOld(spent: Map<string, number>): void {
  for (const [nonce, atMs] of spent) {
    if (atMs > performance.now() - 2 * FORM_SECONDS * 1000) return;
    spent.delete(nonce);
  }
}

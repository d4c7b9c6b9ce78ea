import type { ServerContext } from "@modelcontextprotocol/server";
import type { Caller } from "./api-types";

/** Tells whose request a tool call is, or `undefined` when nobody is known; then nothing is asked and nothing runs. */
export type ResolveCaller = (ctx: ServerContext) => Caller | undefined | Promise<Caller | undefined>;

/**
 * The caller in the verified access token of an HTTP request: `iss` and `sub` from `authInfo.extra`, where the server's token
 * verifier put them (the SDK's `AuthInfo` has no member for them), `clientId` from `authInfo.clientId`.
 * Tool arguments, `_meta` and the client's own name never count (S21).
 */
export function callerFromAuthInfo(ctx: ServerContext): Caller | undefined {
  const authInfo = ctx.http?.authInfo;
  const iss = authInfo?.extra?.["iss"];
  const sub = authInfo?.extra?.["sub"];
  if (typeof iss !== "string" || typeof sub !== "string") return undefined;
  const clientId = authInfo?.clientId;
  return { iss, sub, ...(clientId ? { clientId } : {}) };
}

/** Asks the server's author whose request it is; anything but a complete answer is nobody. */
export async function resolvedCaller(resolve: ResolveCaller, ctx: ServerContext): Promise<Caller | undefined> {
  try {
    const caller = await resolve(ctx);
    if (caller === undefined || !isText(caller.iss) || !isText(caller.sub)) return undefined;
    return { iss: caller.iss, sub: caller.sub, ...(isText(caller.clientId) ? { clientId: caller.clientId } : {}) };
  } catch {
    return undefined;
  }
}

/** Exact comparison of all three parts (I15). */
export function isSameCaller(a: CallerLike, b: CallerLike): boolean {
  return a.iss === b.iss && a.sub === b.sub && a.clientId === b.clientId;
}

type CallerLike = { iss: string; sub: string; clientId?: string | undefined };

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

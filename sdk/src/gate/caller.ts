import type { Caller } from "../api-types";

/** Tells whose request a tool call is, or `undefined` when nobody is known; then nothing is asked and nothing runs. */
export type ResolveCaller<Ctx> = (ctx: Ctx) => Caller | undefined | Promise<Caller | undefined>;

/** Where either SDK keeps the verified access token of an HTTP request. */
export type AuthInfoCarrier = {
  http?: { authInfo?: CallerAuthInfo } | undefined;
  authInfo?: CallerAuthInfo | undefined;
};
type CallerAuthInfo = { clientId: string; expiresAt?: number; extra?: Record<string, unknown> };

/**
 * The caller in the verified access token of an HTTP request: `iss` and `sub` from `authInfo.extra`, where the server's token
 * verifier put them (the SDK's `AuthInfo` has no member for them), `clientId` from `authInfo.clientId`. Nobody, once the token has expired.
 * Tool arguments, `_meta` and the client's own name never count (S21).
 */
export function callerFromAuthInfo(ctx: AuthInfoCarrier): Caller | undefined {
  const authInfo = ctx.http?.authInfo ?? ctx.authInfo;
  const iss = authInfo?.extra?.["iss"];
  const sub = authInfo?.extra?.["sub"];
  if (typeof iss !== "string" || typeof sub !== "string") return undefined;
  const { clientId, expiresAt } = authInfo ?? {};
  if (expiresAt !== undefined && expiresAt <= Date.now() / 1000) return undefined;
  return { iss, sub, ...(clientId ? { clientId } : {}) };
}

/**
 * The same caller for every call: for a server over stdio, which one person runs for themselves and whose calls carry no token.
 * Never for a server that others can reach.
 * @throws TypeError where `iss` or `sub` is no text
 */
export function configuredCaller(caller: Caller): ResolveCaller<unknown> {
  const whole = wholeCaller(caller);
  if (whole === undefined) throw new TypeError("the configured caller needs iss and sub");
  return () => whole;
}

/** Asks the server's author whose request it is; anything but a complete answer is nobody. */
export async function resolvedCaller<Ctx>(resolve: ResolveCaller<Ctx>, ctx: Ctx): Promise<Caller | undefined> {
  try {
    return wholeCaller(await resolve(ctx));
  } catch {
    return undefined;
  }
}

/** Exact comparison of all three parts (I15). */
export function isSameCaller(a: CallerLike, b: CallerLike): boolean {
  return a.iss === b.iss && a.sub === b.sub && a.clientId === b.clientId;
}

type CallerLike = { iss: string; sub: string; clientId?: string | undefined };

function wholeCaller(caller: Caller | undefined): Caller | undefined {
  if (caller === undefined || !isText(caller.iss) || !isText(caller.sub)) return undefined;
  return { iss: caller.iss, sub: caller.sub, ...(isText(caller.clientId) ? { clientId: caller.clientId } : {}) };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}

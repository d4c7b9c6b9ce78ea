import { decode, encode, type JWT, type JWTOptions } from "next-auth/jwt";
import { z } from "zod";
import type { Service } from "../process";
import type { SecretKeys } from "../secrets/derive";
import { absoluteSeconds, type SessionClaims, sessionCookieName, sessionCookieOptions } from "./session";

export const claimsSchema = z.object({
  sid: z.string().min(1),
  userId: z.string().min(1),
  iss: z.string().min(1),
  sub: z.string().min(1),
  authTime: z.int(),
  amr: z.array(z.string()),
  startedAt: z.int(),
  stepUpFor: z.string().optional(),
  byPasskey: z.literal(true).optional(),
});

/** The secret of the cookie's encryption, as next-auth takes it. */
export function sessionSecret(service: Pick<Service, "secrets">): string {
  return forNextAuth(service.secrets);
}

const forNextAuth = (keys: SecretKeys) => Buffer.from(keys.session).toString("base64url");

/**
 * How next-auth writes and reads its tokens here: with the current secret, and what it reads also with the one before it, so that nobody
 * is signed out by a rotation. A token that opens with neither is `null`.
 */
export function tokenCoding(service: Pick<Service, "secrets">): Pick<JWTOptions, "encode" | "decode"> {
  return {
    encode: (params) => encode({ ...params, secret: sessionSecret(service) }),
    decode: async ({ token, salt }) => (token ? ((await decodeToken(service, token, salt))?.claims ?? null) : null),
  };
}

/**
 * The secret that a cookie of next-auth's own was written with (its state, verifier and nonce, which `tokenCoding` does not reach): that
 * before a rotation, where only that opens it, else the current one.
 */
export async function secretOfCookie(
  service: Pick<Service, "secrets">,
  headers: Headers,
  name: string,
): Promise<string> {
  const value = readCookie(headers, name);
  const opened = value && (await decodeToken(service, value, name));
  return opened ? opened.secret : sessionSecret(service);
}

async function decodeToken(
  { secrets }: Pick<Service, "secrets">,
  token: string,
  salt = "",
): Promise<{ claims: JWT; secret: string } | undefined> {
  for (const keys of secrets.previous ? [secrets, secrets.previous] : [secrets]) {
    const secret = forNextAuth(keys);
    const claims = await decode({ token, secret, salt }).catch(() => null);
    if (claims) return { claims, secret };
  }
  return undefined;
}

/** The claims of a request's session cookie, or undefined. Only the cookie counts: a bearer token is never a session. */
export async function claimsFromCookie(service: Service, headers: Headers): Promise<SessionClaims | undefined> {
  const value = readCookie(headers, sessionCookieName(service.config.url));
  if (!value) return undefined;
  const claims = claimsSchema.safeParse((await decodeToken(service, value))?.claims).data;
  if (!claims) return undefined;
  const { stepUpFor, byPasskey, ...rest } = claims;
  return { ...rest, ...(stepUpFor === undefined ? {} : { stepUpFor }), ...(byPasskey ? { byPasskey } : {}) };
}

/** A `Set-Cookie` value that carries these claims, encrypted. */
export async function sessionCookie(service: Service, claims: SessionClaims): Promise<string> {
  const value = await encode({ token: claims, secret: sessionSecret(service), maxAge: absoluteSeconds });
  const { secure } = sessionCookieOptions(service.config.url);
  return `${sessionCookieName(service.config.url)}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${absoluteSeconds}${secure ? "; Secure" : ""}`;
}

/** A cookie of the request by its exact name, or undefined; where it was sent twice, none counts. */
export function readCookie(headers: Headers, name: string): string | undefined {
  const pairs = (headers.get("cookie") ?? "").split(";").map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

import { decode, encode } from "next-auth/jwt";
import { z } from "zod";
import type { Service } from "../process";
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
});

/** The secret of the cookie's encryption, as next-auth takes it. */
export function sessionSecret(service: Pick<Service, "secrets">): string {
  return Buffer.from(service.secrets.session).toString("base64url");
}

/** The claims of a request's session cookie, or undefined. Only the cookie counts: a bearer token is never a session. */
export async function claimsFromCookie(service: Service, headers: Headers): Promise<SessionClaims | undefined> {
  const value = readCookie(headers, sessionCookieName(service.config.url));
  if (!value) return undefined;
  const token = await decode({ token: value, secret: sessionSecret(service) }).catch(() => null);
  const claims = claimsSchema.safeParse(token).data;
  if (!claims) return undefined;
  const { stepUpFor, ...rest } = claims;
  return stepUpFor === undefined ? rest : { ...rest, stepUpFor };
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

import type { NextAuthOptions, User } from "next-auth";
import CredentialsProvider from "next-auth/providers/credentials";
import type { Service } from "@/lib/process";
import { claimsSchema, sessionSecret } from "@/lib/sessions/cookie";
import { endSession } from "@/lib/sessions/end";
import { absoluteSeconds, type SessionClaims, sessionCookieName, sessionCookieOptions } from "@/lib/sessions/session";
import { startSession } from "@/lib/sessions/start";
import { authenticate } from "@/lib/users/authenticate";

/** How next-auth signs people in here: local accounts, an encrypted cookie with our claims, our own pages. */
export function authOptions(service: Service): NextAuthOptions {
  const { url } = service.config;
  return {
    secret: sessionSecret(service),
    session: { strategy: "jwt", maxAge: absoluteSeconds },
    pages: { signIn: "/signin", signOut: "/signout", error: "/signin", verifyRequest: "/signin", newUser: "/inbox" },
    cookies: { sessionToken: { name: sessionCookieName(url), options: sessionCookieOptions(url) } },
    providers: [localAccounts(service)],
    callbacks: {
      // Set once, at sign-in: nothing that comes later changes who it is.
      jwt: ({ token, user }) => ((user as SignedIn | undefined)?.claims as typeof token | undefined) ?? token,
      // This endpoint has no reader of ours; it tells scripts nothing.
      session: ({ session }) => ({ expires: session.expires }),
      redirect: ({ url: wanted, baseUrl }) => samePlace(wanted, baseUrl),
    },
    events: {
      signOut: async ({ token }) => {
        const claims = claimsSchema.safeParse(token).data;
        if (claims) await endSession(service, claims);
      },
    },
    logger: {
      error: (code) => service.log.warn({ event: code }, "sign-in reported an error"),
      warn: (code) => service.log.debug({ event: code }, "sign-in reported a warning"),
      debug: () => {},
    },
  };
}

type SignedIn = User & { claims: SessionClaims };

function localAccounts(service: Service) {
  return CredentialsProvider({
    credentials: { email: {}, password: {} },
    authorize: async (credentials, request) => {
      const { email, password } = credentials ?? {};
      if (typeof email !== "string" || typeof password !== "string") return null;
      return signIn(service, email, password, (request.headers ?? {}) as Sent).catch(hideCause(service));
    },
  });
}

type Sent = Record<string, string | undefined>;

async function signIn(service: Service, email: string, password: string, headers: Sent): Promise<SignedIn | null> {
  const user = await authenticate(service, email, password);
  if (!user) return null;
  const from = { userAgent: headers["user-agent"], address: headers["x-forwarded-for"] };
  const claims = await startSession(service, {
    userId: user.id,
    iss: service.issuer,
    sub: user.id,
    amr: ["pwd"],
    ...from,
  });
  return { id: user.id, claims };
}

/** Only our own pages; everything else leads to the inbox. */
function samePlace(wanted: string, baseUrl: string): string {
  const target = URL.canParse(wanted, baseUrl) ? new URL(wanted, baseUrl) : undefined;
  return target?.origin === new URL(baseUrl).origin ? target.href : `${baseUrl}/inbox`;
}

/** next-auth would put the error's own text into the address of the next page. */
function hideCause(service: Service): (error: Error) => never {
  return (error) => {
    service.log.error({ reason: error.message }, "somebody could not be signed in");
    throw new Error("unavailable");
  };
}

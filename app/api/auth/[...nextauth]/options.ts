import type { NextAuthOptions, User } from "next-auth";
import type { Ending } from "@/lib/oidc/finish";
import { oidcOutboundPolicy } from "@/lib/oidc/outbound-policy";
import type { Service } from "@/lib/process";
import { claimsSchema, sessionSecret, tokenCoding } from "@/lib/sessions/cookie";
import { endSession } from "@/lib/sessions/end";
import { absoluteSeconds, type SessionClaims, sessionCookieName, sessionCookieOptions } from "@/lib/sessions/session";
import { localAccounts } from "./local";
import { type Asked, oidcProvider, oidcWayOut } from "./oidc";
import { passkeyProvider } from "./passkey";

/** What one request to next-auth's routes has to do with ours: told before it, or learned by it. */
export type Exchange = {
  /** Of the authorization request that this one begins. */
  asked?: Asked;
  /** Ends the flow with the claims of the verified ID token. Absent: nobody is signed in by a provider here. */
  finish?: (claims: Record<string, unknown>) => Promise<Ending>;
  /** How it ended; absent where next-auth refused the answer before. */
  ending?: Ending;
  /** Who was signed in, by whatever. */
  signedIn?: SessionClaims;
  /** Where the cookies of a flow were written with another secret than the current one. */
  secret?: string;
};

export type SignedIn = User & { claims: SessionClaims };

/** How next-auth signs people in here: an encrypted cookie with our claims, our own pages, our own providers. */
export function authOptions(service: Service, exchange: Exchange = {}): NextAuthOptions {
  const { url, oidcProviders, outbound } = service.config;
  const wayOut = oidcWayOut(oidcOutboundPolicy(outbound, oidcProviders));
  return {
    secret: exchange.secret ?? sessionSecret(service),
    session: { strategy: "jwt", maxAge: absoluteSeconds },
    jwt: tokenCoding(service),
    pages: { signIn: "/signin", signOut: "/signout", error: "/signin", verifyRequest: "/signin", newUser: "/inbox" },
    cookies: { sessionToken: { name: sessionCookieName(url), options: sessionCookieOptions(url) } },
    providers: [
      localAccounts(service),
      passkeyProvider(service),
      ...oidcProviders.map((provider) => oidcProvider(provider, exchange.asked, wayOut)),
    ],
    callbacks: {
      signIn: ({ user, account, profile }) => (account?.type === "oauth" ? finish(exchange, user, profile) : true),
      // Set once, at sign-in: nothing that comes later changes who it is.
      jwt: ({ token, user }) => {
        const claims = (user as SignedIn | undefined)?.claims;
        if (claims) exchange.signedIn = claims;
        return (claims as typeof token | undefined) ?? token;
      },
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
      error: (code, metadata) => service.log.warn({ event: code, reason: reasonOf(code, metadata) }, "sign-in failed"),
      warn: (code) => service.log.debug({ event: code }, "sign-in reported a warning"),
      debug: () => {},
    },
  };
}

/** A path, which next-auth takes for a refusal, leaves the cookie of the session as it is; the route says where to really go. */
async function finish(exchange: Exchange, user: User, claims: unknown): Promise<true | string> {
  if (!exchange.finish) return "/signin";
  exchange.ending = await exchange.finish(claims as Record<string, unknown>);
  if (exchange.ending.kind !== "signed_in") return "/signin";
  (user as SignedIn).claims = exchange.ending.claims;
  return true;
}

/** Only our own pages; everything else leads to the inbox. */
function samePlace(wanted: string, baseUrl: string): string {
  const target = URL.canParse(wanted, baseUrl) ? new URL(wanted, baseUrl) : undefined;
  return target?.origin === new URL(baseUrl).origin ? target.href : `${baseUrl}/inbox`;
}

/**
 * What an operator needs to find a wrong setting of a provider, and nothing that a visitor could have written: those errors come after the
 * flow was recognised. Anything that could be a token, a code or a state is taken out.
 */
function reasonOf(code: string, metadata: unknown): string | undefined {
  if (!aboutProvider.has(code)) return undefined;
  const inner = metadata instanceof Error ? metadata : (metadata as { error?: unknown } | undefined)?.error;
  return inner instanceof Error ? inner.message.replaceAll(/[\w~+=-]{20,}/g, "…").slice(0, 300) : undefined;
}

const aboutProvider = new Set(["SIGNIN_OAUTH_ERROR", "OAUTH_CALLBACK_ERROR", "OAUTH_CALLBACK_HANDLER_ERROR"]);

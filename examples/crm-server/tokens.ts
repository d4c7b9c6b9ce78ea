import { createHash, timingSafeEqual } from "node:crypto";
import { type AuthInfo, OAuthError, OAuthErrorCode, type OAuthTokenVerifier } from "@modelcontextprotocol/server";
import { z } from "zod";

const tokensSchema = z.record(
  z.string().min(16),
  z.object({ iss: z.string().min(1), sub: z.string().min(1), clientId: z.string().min(1).optional() }),
);

/** Access token → whose it is. */
export type Tokens = z.infer<typeof tokensSchema>;

/**
 * Reads tokens from JSON: `{ "<token, at least 16 characters>": { "iss": …, "sub": …, "clientId": … } }`.
 * @throws Error when it is of another form
 */
export function readTokens(json: string): Tokens {
  return tokensSchema.parse(JSON.parse(json));
}

const VALID_SECONDS = 300;

/**
 * Stands in for an OAuth resource server's token check, so that the example runs by itself. A real server verifies the access
 * token of its authorization server here (signature, issuer, audience, expiry) and takes `iss` and `sub` from it. What matters for
 * Countersign is where they end up: in `authInfo.extra`, and nowhere that a model or an MCP client can write.
 */
export function createTokenVerifier(tokens: Tokens): OAuthTokenVerifier {
  const known = Object.entries(tokens).map(([token, owner]) => ({ digest: digestOf(token), owner }));
  return {
    async verifyAccessToken(token): Promise<AuthInfo> {
      const digest = digestOf(token);
      // Each one is compared, whichever fits, so that the time taken tells nothing.
      const [found] = known.filter((candidate) => timingSafeEqual(candidate.digest, digest));
      if (found === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown access token");
      const { iss, sub, clientId = "" } = found.owner;
      const expiresAt = Math.floor(Date.now() / 1000) + VALID_SECONDS;
      return { token, clientId, scopes: [], expiresAt, extra: { iss, sub } };
    },
  };
}

function digestOf(token: string): Buffer {
  return createHash("sha256").update(token).digest();
}

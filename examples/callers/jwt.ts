import { type AuthInfo, OAuthError, OAuthErrorCode, type OAuthTokenVerifier } from "@modelcontextprotocol/server";
import { createRemoteJWKSet, errors, jwtVerify } from "jose";
import { z } from "zod";

export type JwtSettings = {
  /** `iss` of the authorization server, exactly as its tokens say it. */
  issuer: string;
  /** This MCP server's own resource identifier (RFC 8707): a token for anybody else is refused. */
  audience: string;
  jwksUrl: string;
};

const claimsSchema = z.object({
  iss: z.string(),
  sub: z.string().min(1),
  client_id: z.string().min(1),
  exp: z.number(),
  scope: z.string().default(""),
});

/**
 * For an authorization server whose access tokens are JWTs (RFC 9068). The person is `iss` and `sub` of the verified token; `client_id` is
 * the app that it was given to, never the person.
 */
export function createJwtVerifier({ issuer, audience, jwksUrl }: JwtSettings): OAuthTokenVerifier {
  const keys = createRemoteJWKSet(new URL(jwksUrl));
  return {
    async verifyAccessToken(token): Promise<AuthInfo> {
      const verified = await jwtVerify(token, keys, { issuer, audience, typ: "at+jwt" }).catch((error: unknown) => {
        // Keys that could not be fetched say nothing of the token: that is the server's fault, not the caller's.
        if (error instanceof errors.JWKSTimeout || !(error instanceof errors.JOSEError)) throw error;
        throw new OAuthError(OAuthErrorCode.InvalidToken, "The access token is not valid here");
      });
      const claims = claimsSchema.safeParse(verified.payload).data;
      if (claims === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "The access token names nobody");
      const { iss, sub, client_id, exp, scope } = claims;
      return {
        token,
        clientId: client_id,
        scopes: scope.split(" ").filter(Boolean),
        expiresAt: exp,
        extra: { iss, sub },
      };
    },
  };
}

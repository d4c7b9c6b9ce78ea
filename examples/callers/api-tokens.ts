import { createHash } from "node:crypto";
import { type AuthInfo, OAuthError, OAuthErrorCode, type OAuthTokenVerifier } from "@modelcontextprotocol/server";

export type ApiTokenOwner = { userId: string; tokenName: string; expiresAt: number };

/**
 * For a server whose users make API tokens on its own pages: no authorization server is there, so the server itself is the issuer. Choose a
 * URL of yours as `issuer` and never change it; an admin of Countersign then links each person to their user id:
 * `npx countersign users link EMAIL --iss ISSUER --sub USER_ID`, and the client's policy lists the issuer.
 * `findOwner` gets the SHA-256 of the token (lower-case hex), which is all that a database has to hold.
 */
export function createApiTokenVerifier(
  issuer: string,
  findOwner: (tokenHash: string) => Promise<ApiTokenOwner | undefined>,
): OAuthTokenVerifier {
  return {
    async verifyAccessToken(token): Promise<AuthInfo> {
      const owner = await findOwner(createHash("sha256").update(token).digest("hex"));
      if (owner === undefined) throw new OAuthError(OAuthErrorCode.InvalidToken, "Unknown API token");
      const { userId, tokenName, expiresAt } = owner;
      // The token's name stands where the app's would: two tokens of one person do not share an approval.
      return { token, clientId: tokenName, scopes: [], expiresAt, extra: { iss: issuer, sub: userId } };
    },
  };
}

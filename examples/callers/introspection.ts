import { type AuthInfo, OAuthError, OAuthErrorCode, type OAuthTokenVerifier } from "@modelcontextprotocol/server";
import { z } from "zod";

export type IntrospectionSettings = {
  /** `iss` of the authorization server; the answer may repeat it, and must not contradict it. */
  issuer: string;
  /** This MCP server's own resource identifier: a token for anybody else is refused. */
  audience: string;
  /** The introspection endpoint (RFC 7662), and this server's credentials there. */
  url: string;
  clientId: string;
  clientSecret: string;
};

const answerSchema = z.object({
  active: z.literal(true),
  iss: z.string().optional(),
  sub: z.string().min(1),
  client_id: z.string().min(1),
  aud: z.union([z.string(), z.array(z.string())]).transform((aud) => [aud].flat()),
  exp: z.number(),
  scope: z.string().default(""),
});

/** For an authorization server whose access tokens only it can read: it is asked about each one. */
export function createIntrospectionVerifier(settings: IntrospectionSettings): OAuthTokenVerifier {
  const { issuer, audience, url, clientId, clientSecret } = settings;
  const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString(
    "base64",
  );
  return {
    async verifyAccessToken(token): Promise<AuthInfo> {
      const response = await fetch(url, {
        method: "POST",
        headers: { authorization: `Basic ${credentials}`, accept: "application/json" },
        body: new URLSearchParams({ token, token_type_hint: "access_token" }),
        redirect: "error",
        signal: AbortSignal.timeout(5000),
      });
      if (!response.ok) throw new Error(`the introspection endpoint answered ${response.status}`);
      const answer = answerSchema.safeParse(await response.json()).data;
      if (answer === undefined || !answer.aud.includes(audience) || (answer.iss ?? issuer) !== issuer)
        throw new OAuthError(OAuthErrorCode.InvalidToken, "The access token is not valid here");
      const { sub, client_id, exp, scope } = answer;
      const scopes = scope.split(" ").filter(Boolean);
      return { token, clientId: client_id, scopes, expiresAt: exp, extra: { iss: issuer, sub } };
    },
  };
}

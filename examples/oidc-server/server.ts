import type { Gate } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import { createJwtVerifier, type JwtSettings } from "../callers/jwt";
import { type Served, serveMcp } from "../support/serve";

/** Role grants that were made, and whose request each was. */
export type Grants = { role: string; to: string; askedBy: string }[];

/** Who may call is what the authorization server's tokens say; who approves is the very same person, signed in at the same provider. */
export function createRolesServer(gate: Gate, grants: Grants): McpServer {
  const server = new McpServer(
    { name: "roles", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  gate.guard(
    {
      server,
      tool: "grant_role",
      tier: 3,
      description: "Grants a role to somebody. The user has to approve it on a separate page.",
      inputSchema: z.object({ role: z.enum(["viewer", "editor", "owner"]), to: z.string().max(100) }),
      presentation: ({ role, to }) => ({
        title: `Make ${to} ${role}`,
        destination: "production",
        details: [{ label: "Role", value: role, risk: role === "owner" }],
      }),
    },
    ({ role, to }, ctx) => {
      grants.push({ role, to, askedBy: String(ctx.http?.authInfo?.extra?.["sub"]) });
      return { content: [{ type: "text", text: `${to} is ${role} now.` }] };
    },
  );
  return server;
}

/** Serves it for whoever brings an access token that `tokens.issuer` made for `tokens.audience`; any other token opens nothing. */
export function serveRoles(gate: Gate, grants: Grants, tokens: JwtSettings): Promise<Served> {
  return serveMcp({ createServer: () => createRolesServer(gate, grants), verifier: createJwtVerifier(tokens) });
}

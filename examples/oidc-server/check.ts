import assert from "node:assert/strict";
import { callerFromAuthInfo, createGate } from "@countersign/mcp";
import type { JwtSettings } from "../callers/jwt";
import { connectAgent, ERAS } from "../support/agent";
import type { ApprovalPage, Setting } from "../support/setting";
import { type Grants, serveRoles } from "./server";

export type OidcSetting = Omit<Setting, "caller"> & {
  /** The authorization server, and what this MCP server is called there (RFC 8707). */
  tokens: JwtSettings;
  /** An access token that an MCP client got there for the person, for this very server. */
  accessToken: string;
};

/** The token's person is asked and no other, in both eras; a token for another resource or of another issuer opens nothing. */
export async function check({ url, apiKey, clientId, person, tokens, accessToken }: OidcSetting): Promise<void> {
  const gate = createGate({
    url,
    apiKey,
    clientId,
    resolveCaller: callerFromAuthInfo,
    requirements: { matchCode: false },
  });
  const grants: Grants = [];
  const onLink = (page: ApprovalPage) => person(page, "accept");
  const roles = await serveRoles(gate, grants, tokens);
  try {
    for (const era of ERAS) {
      const agent = await connectAgent(roles.url, accessToken, era, { onLink });
      const before = grants.length;
      const answer = await agent.call("grant_role", { role: "owner", to: `ines-${era}` });
      assert.equal(answer.ending, undefined, answer.text);
      assert.equal(grants.length, before + 1, "it ran once");
      await agent.close();
    }
  } finally {
    await roles.close();
  }
  for (const wrong of [{ audience: "https://another.example/" }, { issuer: "https://another.example" }]) {
    const elsewhere = await serveRoles(gate, grants, { ...tokens, ...wrong });
    try {
      assert.equal(await statusFor(elsewhere.url, accessToken), 401, "a token for somebody else");
      assert.equal(await statusFor(elsewhere.url, "no-token"), 401, "no token at all");
    } finally {
      await elsewhere.close();
    }
  }
  assert.equal(grants.length, ERAS.length);
}

async function statusFor(url: string, token: string): Promise<number> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  await response.body?.cancel();
  return response.status;
}

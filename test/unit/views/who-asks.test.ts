import { describe, expect, it } from "vitest";
import type { RecordClaims } from "@/lib/records/claims";
import { buildView } from "@/lib/views/build";
import { viewDigestOf } from "@/lib/views/stamp";
import type { ShownText } from "@/lib/views/view";

const record: RecordClaims = {
  iss: "https://approve.example.com",
  aud: "https://approve.example.com",
  jti: "apr_00000000000000000000000000",
  client_id: "cli_1",
  client_name: "CRM server",
  caller: { iss: "https://as.example.com", sub: "u1", clientId: "chat-app" },
  sub_id: { format: "iss_sub", iss: "https://as.example.com", sub: "u1" },
  action: { tool: "t", arguments: {} },
  presentation: { title: "Title" },
  requirements: { maxAuthAgeSeconds: 900, passkey: "off", matchCode: true, actBySeconds: 300, stepUpSeconds: 300 },
  mcp_client: { name: "Countersign", version: "9" },
  policy_version: 1,
  salt: "s",
  action_digest: `sha256:${"0".repeat(64)}`,
  view_version: 1,
  iat: 1,
  exp: 301,
};
const rawOf = (text: ShownText | null | undefined) =>
  text?.spans.map((span) => (span.kind === "text" ? span.text : span.char)).join("");

describe("who asks, on the page", () => {
  it("S36, S34: is the client by its registered name; what the MCP client calls itself stands apart from it", () => {
    const view = buildView(record, "en");
    expect(rawOf(view.clientName)).toBe("CRM server");
    expect(rawOf(view.mcpClient?.name)).toBe("Countersign");
    expect(rawOf(view.mcpClientId)).toBe("chat-app");
  });

  it("I3: another client, or another name of the MCP client, is another page", () => {
    const digest = viewDigestOf(buildView(record, "en"), "s");
    for (const other of [{ client_name: "Shop" }, { mcp_client: { name: "Other" } }])
      expect(viewDigestOf(buildView({ ...record, ...other }, "en"), "s")).not.toEqual(digest);
  });
});

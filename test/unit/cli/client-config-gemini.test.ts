import { describe, expect, it } from "vitest";
import type { ClientSettings } from "@/cli/client-config/client";
import { geminiCli } from "@/cli/client-config/gemini-cli";
import { sortTools } from "@/cli/client-config/tools";

const tools = sortTools(
  JSON.stringify([
    { name: "list_it", tier: 0 },
    { name: "fetch.url", tier: 1 },
    { name: "rename", tier: 2 },
    { name: "delete_it", tier: 3 },
    { name: "untold" },
    { name: "get *", tier: 0 },
  ]),
);

describe("Gemini CLI's rules", () => {
  it("get stricter with the priority, and what has no rule is asked for", () => {
    const rules = rulesOf(geminiCli("crm", tools, true));
    expect(rules).toEqual([
      { mcpName: "crm", toolName: "list_it", decision: "allow", priority: 100 },
      { mcpName: "crm", toolName: "fetch.url", decision: "ask_user", priority: 360 },
      { mcpName: "crm", toolName: "rename", decision: "ask_user", priority: 360 },
      { mcpName: "crm", toolName: "get__", decision: "ask_user", priority: 360 },
      { mcpName: "crm", toolName: "delete_it", decision: "deny", priority: 370 },
      { mcpName: "crm", toolName: "untold", decision: "deny", priority: 370 },
      { mcpName: "crm", toolName: "*", decision: "ask_user", priority: 50 },
    ]);
  });

  it.each([
    ["crm", "crm"],
    ["CRM.eu", "CRM.eu"],
    ["my_crm", "my-crm"],
    ["My CRM (EU)", "My-CRM-EU"],
    ["顧客", "mcp-server"],
    ["mcp", "mcp-server"],
    ["a-server-with-quite-a-long-name", "a-server-with-quite-a-lon"],
  ])("are for a name of the server that they can match: %s is %s", (server, name) => {
    const settings = geminiCli(server, tools, false);
    expect(settings.writtenFor).toBe(name);
    expect(settings.steps.some((step) => step.startsWith(`Register the server as ${name}`))).toBe(server !== name);
  });

  it("match the full name that the client makes, also where it cuts it", () => {
    const long = `delete_${"x".repeat(100)}_now`;
    const [rule] = rulesOf(
      geminiCli("a-server-with-quite-a-long-name", sortTools(JSON.stringify([{ name: long }])), true),
    );
    const full = `mcp_a-server-with-quite-a-lon_${long}`;
    expect(`mcp_${rule?.["mcpName"]}_${rule?.["toolName"]}`).toBe(`${full.slice(0, 30)}...${full.slice(-30)}`);
  });
});

/** The rules of a policy file; each line is a key of TOML with a value that is one of JSON too. */
function rulesOf(settings: ClientSettings): Record<string, unknown>[] {
  return (settings.files[0]?.content ?? "").split("\n\n").map((block) => {
    const [head, ...lines] = block.split("\n");
    expect(head).toBe("[[rule]]");
    return Object.fromEntries(
      lines.map((line) => {
        const [key = "", value = ""] = line.split(" = ");
        return [key, JSON.parse(value) as unknown];
      }),
    );
  });
}

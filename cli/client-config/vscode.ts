import { type ClientSettings, json } from "./client";
import { dangerous, type Sorted } from "./tools";

/** VS Code: which tools may ever be approved beforehand. Nothing can be allowed there by a file; the user does that in the prompt. */
export function vscode(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const named = (list: string[]) => (list.length === 0 ? "none" : list.join(", "));
  // The key of an MCP tool is its name alone, with dots as underscores (`McpTool.referenceName`, `getToolFullReferenceName`).
  const held = [...tools.ask, ...dangerous(tools)].map((tool) => [tool.replaceAll(".", "_"), false] as const);
  const settings = {
    "chat.tools.global.autoApprove": false,
    "chat.tools.eligibleForAutoApproval": Object.fromEntries(held),
  };
  return {
    client: "VS Code",
    asOf: "its documentation of approvals (July 2026) and of enterprise policies, and its source microsoft/vscode@00e03ed for how a tool is keyed",
    writtenFor: server,
    files: [{ place: "settings.json of the user", language: "json", content: json(settings) }],
    steps: [
      `Nothing is to be set for these: where they say readOnlyHint, as the kit makes them, they run unasked; else allow them with Chat: Manage Tool Approval: ${named(tools.allow)}.`,
      ...(deny ? [`Take these away with Configure Tools in the chat: ${named(dangerous(tools))}.`] : []),
    ],
    adminLock:
      "The policies ChatToolsAutoApprove (false: it also takes Bypass Approvals and Autopilot away) and ChatToolsEligibleForAutoApproval (the object above; from 1.107), by Group Policy, a macOS profile, or /etc/vscode/policy.json on Linux (from 1.106).",
    adminFiles: [],
    serverNameRule: `None: the setting names tools without their server, so it holds for every server's tool of that name. In mcp.json the server is ${server}.`,
    notEnforced:
      "Without the policies a user can choose Bypass Approvals or Autopilot for a session, and that goes before this setting. VS Code cannot deny a tool by a file. It opens the links that a server asks for.",
  };
}

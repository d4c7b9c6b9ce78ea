import { type ClientSettings, json } from "./client";
import { dangerous, type Sorted } from "./tools";

/** VS Code: which tools may ever be approved beforehand. Nothing can be allowed there by a file; the user does that in the prompt. */
export function vscode(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const key = (tool: string) => `${server}/${tool}`;
  const settings = {
    "chat.tools.global.autoApprove": false,
    "chat.tools.eligibleForAutoApproval": Object.fromEntries(
      [...tools.ask, ...dangerous(tools)].map((tool) => [key(tool), false]),
    ),
  };
  const steps = [
    `The first time one of these runs, choose to allow it always: ${tools.allow.length === 0 ? "none" : tools.allow.join(", ")}.`,
    ...(deny ? [`Take these away with Configure Tools in the chat: ${dangerous(tools).join(", ") || "none"}.`] : []),
  ];
  return {
    client: "VS Code",
    asOf: "its documentation of approvals, autumn 2026; that MCP tools are keyed SERVER/TOOL there was not tried",
    files: [{ place: "settings.json of the user", language: "json", content: json(settings) }],
    steps,
    adminLock:
      "Device policies set the same two settings for everybody (ChatToolsAutoApprove, ChatToolsEligibleForAutoApproval).",
    serverNameRule: `The key of the server in mcp.json: here ${server}.`,
    notEnforced:
      "Without the policies a user can turn automatic approval on for a session. VS Code opens links that a server asks for.",
  };
}

import { type ClientSettings, json } from "./client";
import { plainName } from "./server-name";
import { dangerous, type Sorted } from "./tools";

/** OpenAI's Responses API: the `mcp` entry of `tools` in each request. */
export function openai(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const label = labelOf(server);
  const asked = [...tools.ask, ...(deny ? [] : dangerous(tools))];
  const offered = [...tools.allow, ...asked];
  const approval = {
    ...(tools.allow.length === 0 ? {} : { never: { tool_names: tools.allow } }),
    ...(asked.length === 0 ? {} : { always: { tool_names: asked } }),
  };
  const entry = {
    type: "mcp",
    server_label: label,
    server_url: "https://mcp.example.com/mcp",
    allowed_tools: offered,
    require_approval: approval,
  };
  return {
    client: "OpenAI Responses API",
    asOf: "the types of its official client openai 7.5.0, August 2026; how server_label may be written is from users' reports",
    writtenFor: label,
    files:
      offered.length === 0
        ? []
        : [{ place: "each request, as an entry of `tools`", language: "json", content: json(entry) }],
    steps: [
      ...(offered.length === 0 ? ["Leave the server out of `tools`: no tool of it is left to offer."] : []),
      "Put your server's own address in server_url. A tool that is not in allowed_tools is not offered: add new ones by their tier.",
      "Answer each mcp_approval_request by a person, never by the program itself: examples/openai-approval does it with Countersign.",
    ],
    adminLock: "There is none: whoever makes the request chooses. Make requests in one place of your own.",
    adminFiles: [],
    serverNameRule: `server_label, which you choose for each request, of letters, digits, - and _: here ${label}.`,
    notEnforced: "It asks the program that calls the API, not a person; the program decides what it does with that.",
  };
}

/** With a letter at its beginning, which is safe whatever the rule is. */
function labelOf(server: string): string {
  const name = plainName(server, /[^A-Za-z0-9_-]+/g);
  return /^[A-Za-z]/.test(name) ? name : `mcp-${name}`;
}

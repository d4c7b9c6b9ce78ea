import { type ClientSettings, json } from "./client";
import { dangerous, type Sorted } from "./tools";

/** OpenAI's Responses API: the `mcp` entry of `tools` in each request. */
export function openai(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const asked = [...tools.ask, ...(deny ? [] : dangerous(tools))];
  const entry = {
    type: "mcp",
    server_label: label(server),
    server_url: "https://mcp.example.com/mcp",
    allowed_tools: [...tools.allow, ...asked],
    require_approval: { never: { tool_names: tools.allow }, always: { tool_names: asked } },
  };
  return {
    client: "OpenAI Responses API",
    asOf: "its API reference, autumn 2026",
    files: [{ place: "each request, as an entry of `tools`", language: "json", content: json(entry) }],
    steps: [
      "Answer each mcp_approval_request by a person, never by the program itself: examples/openai-approval does it with Countersign.",
    ],
    adminLock: "There is none: whoever makes the request chooses. Make requests in one place of your own.",
    serverNameRule: `server_label, of letters, digits, - and _: here ${label(server)}.`,
    notEnforced: "It asks the program that calls the API, not a person; the program decides what it does with that.",
  };
}

const label = (server: string) => server.replace(/[^A-Za-z0-9_-]/g, "_");

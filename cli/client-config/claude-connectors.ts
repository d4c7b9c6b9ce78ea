import type { ClientSettings } from "./client";
import { dangerous, type Sorted } from "./tools";

/** Connectors of the Claude apps: set by hand, tool by tool. */
export function claudeConnectors(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const named = (list: string[]) => (list.length === 0 ? "none" : list.join(", "));
  return {
    client: "Claude connectors",
    asOf: "the vendor's help articles on connectors and custom roles, October 2026; the words of the menus may differ",
    writtenFor: server,
    files: [],
    steps: [
      `Open Customize > Connectors, choose the connector "${server}", and go to Tool permissions.`,
      `Always allow: ${named(tools.allow)}.`,
      `Needs approval: ${named([...tools.ask, ...(deny ? [] : dangerous(tools))])}.`,
      `Blocked: ${named(deny ? dangerous(tools) : [])}.`,
      "Set each tool by itself: the groups there (read-only, write and delete) follow what the server says of its tools, not the tiers.",
    ],
    adminLock:
      "On Team and Enterprise an Owner adds the connector under Organization settings > Connectors and sets the same Tool permissions for everybody; members cannot override that. On Enterprise, custom roles set it per role too (Organization settings > Roles, tab Connectors).",
    adminFiles: [],
    serverNameRule: "The connector's display name, any text; tools are listed by their own names or titles.",
    notEnforced:
      "Where no Owner has restricted the connector, a person can allow a tool always from the prompt itself; a person in several roles gets the most that any of them allows.",
  };
}

import type { ClientSettings } from "./client";
import { dangerous, type Sorted } from "./tools";

/** Connectors of the Claude apps: set by hand, tool by tool. */
export function claudeConnectors(server: string, tools: Sorted, deny: boolean): ClientSettings {
  const named = (list: string[]) => (list.length === 0 ? "none" : list.join(", "));
  return {
    client: "Claude connectors",
    asOf: "the vendor's help pages, autumn 2026; the words of the menus may differ",
    files: [],
    steps: [
      `Open Customize > Connectors and the connector "${server}", then its tools.`,
      `Allow always: ${named(tools.allow)}.`,
      `Ask each time: ${named([...tools.ask, ...(deny ? [] : dangerous(tools))])}.`,
      `Block: ${named(deny ? dangerous(tools) : [])}.`,
    ],
    adminLock:
      "On Team and Enterprise an Owner adds the connector in the organization's settings and can restrict its actions there; members cannot widen that.",
    serverNameRule: "The connector's display name; tools are listed by their own names.",
    notEnforced:
      "Where no restriction of the organization holds, a person can allow a tool always from the prompt itself.",
  };
}

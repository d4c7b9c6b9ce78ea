import type { Sorted } from "./tools";

/** What is to be set in one MCP client, and what that does not do. All texts are for people; `content` is what to paste. */
export type ClientSettings = {
  client: string;
  /** Which version or documentation the facts are of. */
  asOf: string;
  /** What to put where; none where the client is set by hand. */
  files: { place: string; language: "json" | "toml"; content: string }[];
  steps: string[];
  adminLock: string;
  serverNameRule: string;
  notEnforced: string;
};

/** Makes the settings of one MCP client for a server under a name. `deny`: tier 3 is taken away from the agent, not asked for. */
export type SettingsFor = (server: string, tools: Sorted, deny: boolean) => ClientSettings;

export const json = (value: unknown) => JSON.stringify(value, null, 2);

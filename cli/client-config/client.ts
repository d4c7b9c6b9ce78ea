import type { Sorted } from "./tools";

/** A piece to paste and where it goes. */
export type Paste = { place: string; language: "json" | "toml"; content: string };

/** What is to be set in one MCP client, and what that does not do. All texts are for people; `content` is what to paste. */
export type ClientSettings = {
  client: string;
  /** Which version or documentation the facts are of. */
  asOf: string;
  /** The name that the settings are written for: where it is not the one given, the server has to be registered under it. */
  writtenFor: string;
  /** What to put where; none where the client is set by hand. */
  files: Paste[];
  steps: string[];
  adminLock: string;
  /** What an admin puts where, so that a user cannot take it back; none where that is done by hand. */
  adminFiles: Paste[];
  serverNameRule: string;
  notEnforced: string;
};

/** Makes the settings of one MCP client for a server under a name. `deny`: tier 3 is taken away from the agent, not asked for. */
export type SettingsFor = (server: string, tools: Sorted, deny: boolean) => ClientSettings;

export const json = (value: unknown) => JSON.stringify(value, null, 2);

/** What the MCP client answered to a prompt. `accept` to a link only says that it was opened (section 2 of the contract). */
export type ClientAnswer = { action: "accept" | "decline" | "cancel"; content: Readonly<Record<string, unknown>> };

export type UrlPrompt = { mode: "url"; message: string; url: string };
/** A form of one field: a required choice among `options`, none of them given in advance. */
export type FormPrompt = {
  mode: "form";
  message: string;
  field: string;
  title: string;
  options: readonly FormOption[];
};
export type FormOption = { value: string; title: string };

/**
 * One `tools/call`, whichever SDK and revision it came through. Whatever the MCP client said of itself is here as it said it, and
 * trusted for nothing (S34).
 */
export type McpCall = {
  /** Which prompts the MCP client can show, for this very call; an empty declaration means forms only (S1). */
  can: { url: boolean; form: boolean };
  clientInfo: { name: string; version?: string } | undefined;
  /** Of the transport, where it has sessions. */
  sessionId: string | undefined;
  /** Ends with the request: when the MCP client cancels it or goes away. */
  signal: AbortSignal;
  /** Tells an MCP client that asked for it that the call is alive. */
  reportProgress(message: string): Promise<void>;
} & (RoundsCall | PushCall);

/** Revision 2026-07-28: prompts are results, and what was asked comes back with the next round. */
type RoundsCall = {
  era: "rounds";
  /** The echoed state, as it came or as the server's hook verified it; `undefined` in a first round. */
  state: unknown;
  /** The answer to a prompt of the round before; `undefined` where there is none of a fit form. */
  answerTo(key: string): ClientAnswer | undefined;
};

/** Revision 2025-11-25 and older: prompts are requests to the MCP client while the call is open. */
type PushCall = {
  era: "push";
  /** Asks the MCP client. Rejects when it cannot be asked, or when `signal` ends it. */
  prompt(
    prompt: UrlPrompt | FormPrompt,
    options: { elicitationId: string; signal: AbortSignal },
  ): Promise<ClientAnswer>;
  /** Tells the session that was asked, and no other, that a link is done with (S5). */
  complete(elicitationId: string): Promise<void>;
};

/** What becomes of a call; each SDK's part makes its own kind of result of it. */
export type Served<Result> =
  | { kind: "result"; result: Result }
  /** Not run. */
  | { kind: "ended"; isError: boolean; text: string; meta: Readonly<Record<string, string>> }
  /** Only in rounds: show this, and come back with the state. */
  | { kind: "prompt"; key: string; prompt: UrlPrompt | FormPrompt; state: string }
  /** Only in rounds: come back with the state. */
  | { kind: "again"; state: string }
  /** Only in rounds: the tool insists on links, which this MCP client cannot show (-32021). */
  | { kind: "url_required" };

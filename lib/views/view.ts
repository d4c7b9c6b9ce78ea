import type { Locale } from "../approvals/mint-request";
import type { Span } from "../text/inspect";
import type { Warning } from "../text/warnings";

/** A text from outside, ready to draw: what can be shown, what must be drawn, and what to beware of (I11). */
export type ShownText = { spans: Span[]; warnings: Warning[] };

/** One argument in full: the way to it (names and list positions), its type, and its value where it has one. */
export type ShownArgument = {
  path: ({ name: ShownText } | { position: number })[];
  type: "text" | "number" | "boolean" | "null" | "emptyList" | "emptyObject";
  value: ShownText | null;
};

/** Everything that the page of an approval shows of it: a pure function of the record, the view version and the locale (I3). */
export type View = {
  version: number;
  locale: Locale;
  clientName: ShownText;
  mcpClient: { name: ShownText; version: ShownText | null } | null;
  mcpClientId: ShownText | null;
  title: ShownText;
  purpose: ShownText | null;
  destination: ShownText | null;
  irreversible: boolean;
  details: { label: ShownText; value: ShownText; risk: boolean }[];
  checks: { label: ShownText; value: ShownText }[];
  tool: ShownText;
  arguments: ShownArgument[];
  modelNote: ShownText | null;
  expiresAt: string;
};

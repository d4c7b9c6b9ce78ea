import type { Presentation, Requirements, Scalar } from "../api-types";
import type { ReceiptClaims } from "../receipt";
import type { Ending } from "./texts";

/** How dangerous a tool is, by the worst that it can do (section 9 of the contract). */
export type Tier = 0 | 1 | 2 | 3 | 4;

type OrPromise<T> = T | Promise<T>;

/** What a tool of each tier says of itself. */
export type TierSpecs<Args, Ctx> = {
  /** Reads the caller's own data: runs at once. */
  0: Record<never, never>;
  /** Reads what somebody else wrote: runs at once, and the result is marked as untrusted. */
  1: UntrustedReadSpec<Args>;
  /** A write that can be undone. */
  2: WriteSpec<Args, Ctx>;
  /** Destructive, outward or costly: a person decides. */
  3: ApprovedSpec<Args, Ctx>;
  /** Not for agents: it cannot be registered. */
  4: Record<never, never>;
};

export type UntrustedReadSpec<Args> = {
  /** What is read, in a few words, e.g. the host of a URL: the agent and a later approval page name it. Default: the tool's name. */
  source?: (args: Args) => string;
  /** Where a result is cut: 100…1000000, default 50000 characters over all its texts. */
  maxResultCharacters?: number;
};

export type WriteSpec<Args, Ctx> = {
  /** Tells equal writes from different ones. Default: the same caller, tool and arguments. Two callers never share a key. */
  idempotencyKey?: (args: Args, ctx: Ctx) => string;
  /** How long an equal write is answered with the first one's result: 0…3600, default 60. 0 runs each. Kept in this process. */
  repeatSeconds?: number;
  /** Asks the user in the MCP client's own form before the write; what the form says, in one line of at most 500 characters. Without forms the tool does not run. */
  confirm?: (args: Args, ctx: Ctx) => OrPromise<{ message: string }>;
};

export type ApprovedSpec<Args, Ctx> = {
  /** How the action is explained to the person. Written by the server: look names up, do not repeat what the model says. */
  presentation: (args: Args, ctx: Ctx) => OrPromise<Omit<Presentation, "checks">>;
  /**
   * What the arguments claim beside what is so. A difference is refused before anybody is asked (`check_mismatch`) and, since they are
   * read again after the decision, before anything runs (`stale`).
   */
  checks?: (args: Args, ctx: Ctx) => OrPromise<NonNullable<Presentation["checks"]>>;
  /** What must be unchanged between asking and running, e.g. an etag: read at both times, and `stale` if it differs. */
  preconditions?: (args: Args, ctx: Ctx) => OrPromise<Readonly<Record<string, unknown>>>;
  requirements?: Requirements;
  /** 10…86400; for the inbox, the gate's `inbox.ttlSeconds`. */
  ttlSeconds?: number;
  /** 10…3600; for the inbox, the gate's `inbox.actBySeconds`. */
  actBySeconds?: number;
  /** At most 10 short scalars; the only free data that stays in the audit log. */
  metadata?: Readonly<Record<string, Scalar>>;
  /** How many things a call is about; more than `maxItems` are not asked for. */
  items?: (args: Args) => number;
  /** 1…10000, default 100: what a person can still judge in one look. Counts only with `items`. */
  maxItems?: number;
  /** Refuses MCP clients that cannot open a link (-32021 in revision 2026-07-28), instead of leaving it to the inbox. */
  strict?: boolean;
  /** The person said no, also by "I didn't ask for this". */
  onDecline?: EndingHook<Args, Ctx>;
  /** Closed without a decision, on the page or in the MCP client: save a draft, if there is something to save. */
  onCancel?: EndingHook<Args, Ctx>;
  /** Nobody decided in time, or it was not run in time. */
  onExpire?: EndingHook<Args, Ctx>;
  /** Taken back, withdrawn or frozen. */
  onWithdrawn?: EndingHook<Args, Ctx>;
};

/**
 * What it returns is told to the agent after the fixed text, as the server's own words; what it throws is dropped. An MCP client that sends a
 * round again has it called again: what it does must be the same the second time.
 */
export type EndingHook<Args, Ctx> = (ended: EndedCall<Args, Ctx>) => OrPromise<string | undefined>;

export type EndedCall<Args, Ctx> = {
  ending: Ending;
  args: Args;
  ctx: Ctx;
  approvalId: string | undefined;
  /** The person's own words. */
  note: string | undefined;
};

/** The right under which a handler of each tier runs. */
export type Grants = { 0: undefined; 1: undefined; 2: WriteGrant; 3: Grant; 4: never };

export type WriteGrant = { idempotencyKey: string };

/** `approvalId` serves as an idempotency key: it runs once. */
export type Grant = { approvalId: string } & (
  | {
      via: "countersign";
      receipt: string;
      claims: ReceiptClaims;
      /** The person's own words; the agent is told them beside the tool's result. */
      note?: string;
    }
  /** On the MCP client's word alone; only with `formFallback`. */
  | { via: "client_attested" }
);

/** A tool's result, as far as the kit looks into it; that of either SDK. */
export type ToolResult = {
  content?: readonly ToolContent[];
  isError?: boolean | undefined;
  structuredContent?: unknown;
  _meta?: Readonly<Record<string, unknown>> | undefined;
};
export type ToolContent = { type: string; text?: string; resource?: { text?: string } };

/** A tool as the kit runs it, its types forgotten. */
export type CoreTool<T extends Tier, Ctx> = {
  tool: string;
  tier: T;
  spec: TierSpecs<unknown, Ctx>[T];
  handler: (args: unknown, ctx: Ctx, grant: Grants[T]) => OrPromise<ToolResult>;
};

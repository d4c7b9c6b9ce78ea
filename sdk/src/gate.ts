import type { CallToolResult, InputRequiredResult, McpServer, ServerContext } from "@modelcontextprotocol/server";
import { type ApiClient, createApiClient } from "./api-client";
import type { Outcome, Presentation, Requirements, Scalar } from "./api-types";
import { type ResolveCaller, resolvedCaller } from "./caller";
import { NotRun } from "./endings";
import { guardTool } from "./guard";
import type { Fetch } from "./http";
import { type PinnedCredential, pinnedCredentialSchema } from "./pinned-credential";
import type { ReceiptClaims } from "./receipt";
import { readState } from "./request-state";
import { createServiceIdentity, type ServiceIdentity } from "./service-identity";
import type { Ending } from "./texts";

export type GateOptions = {
  /** Where Countersign is: an https origin, or http on loopback. Its well-known documents name the issuer and the keys. */
  url: string;
  /** API key with the scopes `approvals:create`, `approvals:read` and `approvals:consume`. */
  apiKey: string;
  /** Whose request a call is; see `callerFromAuthInfo`. Nobody: nothing is asked and nothing runs. */
  resolveCaller: ResolveCaller;
  /** `cli_…` of this server: pins the audience of receipts. Without it the first genuine receipt does. */
  clientId?: string;
  /** Pins the issuer of receipts. Without it the service's own document does. */
  issuer?: string;
  requirements?: Requirements;
  /**
   * The passkeys that are known to be people's, kept where the service cannot change them: a passkey's signature by any other does not
   * count. Without it the service vouches whose one is. It asks for no passkey; `requirements` do.
   */
  credentials?: readonly PinnedCredential[];
  /**
   * Refuses a signature by a passkey that `credentials` has for the linked identity that decided, not for the caller. Without it both
   * count, since in a deployment where an admin links identities the passkeys are those of the linked ones.
   */
  pinned?: "subject";
  /** Origin of the approval page, e.g. `https://approve.example.com`: a passkey's signature made on any other does not count. */
  origin?: string;
  /** How long the person has to decide: 10…86400, the service's default is 300. */
  ttlSeconds?: number;
  /** How long an accepted approval can be run: 10…3600, the service's default is 300. */
  actBySeconds?: number;
  /** How long one round of revision 2026-07-28 waits inside the handler: 1…55, default 45. MCP clients commonly give up at 60. */
  pollSeconds?: number;
  /** Told what happens, for logs and metrics; never given argument values. What it throws is dropped. */
  onEvent?: (event: GateEvent) => void;
  fetch?: Fetch;
};

export type GateEvent =
  | { type: "asked"; tool: string; approvalId: string; reused: boolean }
  | { type: "not_run"; tool: string; ending: Ending; approvalId?: string }
  | { type: "ran"; tool: string; approvalId: string; outcome: Outcome }
  | { type: "call_failed"; tool: string; approvalId: string; call: "outcome" | "withdraw" | "notify"; code: string };

export type GuardSpec<Args> = {
  /** The server that the tool is registered on: what its MCP client can do is read there. */
  server: McpServer;
  /** The tool's name, as registered. */
  tool: string;
  /** How the action is explained to the person. Written by the server: look names up, do not repeat what the model says. */
  presentation: (args: Args, ctx: ServerContext) => Presentation | Promise<Presentation>;
  /** What must be unchanged between asking and running, e.g. an etag: read at both times, and `stale` if it differs. */
  preconditions?: (args: Args, ctx: ServerContext) => PreconditionsAnswer;
  requirements?: Requirements;
  ttlSeconds?: number;
  actBySeconds?: number;
  /** At most 10 short scalars; the only free data that stays in the audit log. */
  metadata?: Readonly<Record<string, Scalar>>;
};

type Preconditions = Readonly<Record<string, unknown>>;
export type PreconditionsAnswer = Preconditions | Promise<Preconditions>;

/** The right under which a handler runs. `approvalId` serves as an idempotency key: it runs once. */
export type Grant = {
  approvalId: string;
  receipt: string;
  claims: ReceiptClaims;
  /** The person's own words; the agent is told them beside the tool's result. */
  note?: string;
};

export type GuardedHandler<Args> = (
  args: Args,
  ctx: ServerContext,
  grant: Grant,
) => CallToolResult | Promise<CallToolResult>;

export type GuardedTool<Args> = (args: Args, ctx: ServerContext) => Promise<CallToolResult | InputRequiredResult>;

export type Gate = {
  /**
   * Wraps a tool's handler for `registerTool`: it runs once, with exactly the arguments that a person saw and accepted, or not
   * at all. Every other ending is an `isError` result whose text says that nothing ran and what to do (I13).
   */
  guard<Args>(spec: GuardSpec<Args>, handler: GuardedHandler<Args>): GuardedTool<Args>;
  /**
   * For `new McpServer(info, { requestState: { verify: gate.verifyRequestState } })`: a state that is no approval of this caller
   * is answered with -32602 before the tool is entered. Without it the tool itself refuses, as an `isError` result.
   */
  verifyRequestState(state: string, ctx: ServerContext): Promise<undefined>;
};

/** What the parts of a gate share. */
export type GateParts = {
  options: GateOptions;
  api: ApiClient;
  identity: ServiceIdentity;
  pollMs: number;
  emit: (event: GateEvent) => void;
};

const DEFAULT_POLL_SECONDS = 45;

/**
 * Makes the gate between an MCP server's tools and Countersign. It keeps nothing between calls but public keys, so any replica
 * can serve any round.
 * @throws TypeError for a URL, key, origin or pinned credential of the wrong form, or `pinned` without `credentials`; RangeError for `pollSeconds` outside 1…55
 */
export function createGate(options: GateOptions): Gate {
  const { pollSeconds = DEFAULT_POLL_SECONDS } = options;
  if (!(pollSeconds >= 1 && pollSeconds <= 55)) throw new RangeError("pollSeconds must be within 1…55");
  if (!pinnedCredentialSchema.array().optional().safeParse(options.credentials).success) {
    throw new TypeError("credentials is not a list of { iss, sub, credentialId, publicKey }");
  }
  if (options.pinned !== undefined && options.credentials === undefined) {
    throw new TypeError("pinned needs credentials");
  }
  if (options.origin !== undefined && !isOrigin(options.origin)) throw new TypeError("origin is not an origin");
  const parts: GateParts = {
    options,
    api: createApiClient(options),
    identity: createServiceIdentity(options),
    pollMs: pollSeconds * 1000,
    emit: (event) => {
      try {
        options.onEvent?.(event);
      } catch {
        // An observer has no say in what runs.
      }
    },
  };
  return {
    guard: (spec, handler) => guardTool(parts, spec, handler),
    async verifyRequestState(state, ctx) {
      const caller = await resolvedCaller(options.resolveCaller, ctx);
      // Whatever is not the state's fault is left to the tool, which says so in a text that the agent can read.
      if (caller === undefined) return undefined;
      await readState(parts.api, state, caller).catch((error: unknown) => {
        if (error instanceof NotRun && error.ending === "invalid_state") throw error;
      });
      return undefined;
    },
  };
}

/** As browsers write it: scheme, host and a port that is not the scheme's own, nothing after. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

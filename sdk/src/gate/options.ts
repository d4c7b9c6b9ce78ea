import type { Outcome, Requirements } from "../api-types";
import type { Fetch } from "../http";
import { type PinnedCredential, pinnedCredentialSchema } from "../pinned-credential";
import type { SecretKind } from "../secret-shapes";
import type { ResolveCaller } from "./caller";
import type { Ending } from "./texts";

export type GateOptions<Ctx> = {
  /** Where Countersign is: an https origin, or http on loopback. Its well-known documents name the issuer and the keys. */
  url: string;
  /** API key with the scopes `approvals:create`, `approvals:read` and `approvals:consume`. */
  apiKey: string;
  /** Whose request a call is; see `callerFromAuthInfo` and `configuredCaller`. Nobody: nothing is asked and nothing runs. */
  resolveCaller: ResolveCaller<Ctx>;
  /** `cli_…` of this server: pins the audience of receipts. Without it the first genuine receipt does. */
  clientId?: string;
  /** Pins the issuer of receipts. Without it the service's own document does. Receipts are always verified. */
  issuer?: string;
  /** Demanded of every decision; those of a tool go before. */
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
  /** How many rounds an MCP client goes along with: 2…1000, default 10. One before the last, the agent is told to call again later. */
  maxRounds?: number;
  /** For MCP clients that cannot open a link. */
  inbox?: InboxOptions;
  /**
   * `"client_attested"` lets a tool of tier 3 run on a form that the MCP client answers, where it can show forms and no links. That is no
   * approval by Countersign: the MCP client alone says that a person agreed. Each such run is told to `onEvent`, which must be given.
   */
  formFallback?: "client_attested";
  /** Approvals that one piece of work may ask for within `workflowSeconds`: 1…1000, default 2. */
  maxApprovalsPerWorkflow?: number;
  /** 10…86400, default 600. Counted in this process, so that it is advice and no security bound; the client's policy has those. */
  workflowSeconds?: number;
  /** What counts as one piece of work. Default: the session where there is one, else the caller. */
  workflow?: (ctx: Ctx) => string | undefined;
  /** Language of the texts for the agent; default `en`. */
  locale?: "en" | "ja";
  /** Told what happens, for logs and metrics; never given argument values. What it throws is dropped. */
  onEvent?: (event: GateEvent) => void;
  fetch?: Fetch;
};

export type InboxOptions = {
  /** Gives the approval's link in the tool's text, where the model reads it too. Default: only the inbox is named. */
  link?: boolean;
  /** How the text names the inbox; default: by the host of the approval pages. */
  name?: string;
  /** How long the person has to decide: 10…86400, default 3600. */
  ttlSeconds?: number;
  /** How long an accepted approval can be run: 10…3600, default 3600. */
  actBySeconds?: number;
};

export type GateEvent =
  | { type: "asked"; tool: string; approvalId: string; reused: boolean }
  | { type: "not_run"; tool: string; ending: Ending; approvalId?: string }
  | { type: "ran"; tool: string; approvalId: string; outcome: Outcome }
  /** Tier 3, on the word of the MCP client alone; see `formFallback`. `reference` is the handler's idempotency key. */
  | { type: "ran_client_attested"; tool: string; reference: string; iss: string; sub: string; outcome: Outcome }
  /** Tier 2: the record of a write. `repeated` was answered without a second run. */
  | {
      type: "wrote";
      tool: string;
      idempotencyKey: string;
      iss: string;
      sub: string;
      outcome: Outcome;
      repeated: boolean;
    }
  /** Arguments or presentation look like they hold a secret; the service will refuse it unless its policy allows that kind. */
  | { type: "secret_seen"; tool: string; kind: SecretKind; pointer: string }
  | { type: "hook_failed"; tool: string; ending: Ending }
  /** The store of a resumer did not take how a job ended. It will be looked up at the service, and not run again. */
  | { type: "end_not_kept"; tool: string; approvalId: string }
  | { type: "call_failed"; tool: string; approvalId: string; call: "outcome" | "withdraw" | "notify"; code: string };

/** `GateOptions` with every default filled in. */
export type Settings<Ctx> = GateOptions<Ctx> & {
  pollSeconds: number;
  maxRounds: number;
  inbox: InboxOptions & { ttlSeconds: number; actBySeconds: number };
  maxApprovalsPerWorkflow: number;
  workflowSeconds: number;
  locale: "en" | "ja";
};

/**
 * Checks the options and fills in what is left out.
 * @throws RangeError for a figure outside its bounds, TypeError for anything else of the wrong form; both name the option
 */
export function readOptions<Ctx>(options: GateOptions<Ctx>): Settings<Ctx> {
  const { inbox = {}, credentials, pinned, origin, formFallback, locale = "en" } = options;
  if (!pinnedCredentialSchema.array().optional().safeParse(credentials).success)
    throw new TypeError("credentials is not a list of { iss, sub, credentialId, publicKey }");
  if (pinned !== undefined && credentials === undefined) throw new TypeError("pinned needs credentials");
  if (origin !== undefined && !isOrigin(origin)) throw new TypeError("origin is not an origin");
  if (formFallback !== undefined && formFallback !== "client_attested")
    throw new TypeError('formFallback is not "client_attested"');
  if (formFallback !== undefined && options.onEvent === undefined)
    throw new TypeError("formFallback needs onEvent: what an MCP client attests must be recorded");
  if (locale !== "en" && locale !== "ja") throw new TypeError('locale is neither "en" nor "ja"');
  optionalWithin("ttlSeconds", options.ttlSeconds, 10, 86_400);
  optionalWithin("actBySeconds", options.actBySeconds, 10, 3600);
  return {
    ...options,
    locale,
    pollSeconds: within("pollSeconds", options.pollSeconds ?? 45, 1, 55),
    maxRounds: within("maxRounds", options.maxRounds ?? 10, 2, 1000),
    maxApprovalsPerWorkflow: within("maxApprovalsPerWorkflow", options.maxApprovalsPerWorkflow ?? 2, 1, 1000),
    workflowSeconds: within("workflowSeconds", options.workflowSeconds ?? 600, 10, 86_400),
    inbox: {
      ...inbox,
      ttlSeconds: within("inbox.ttlSeconds", inbox.ttlSeconds ?? 3600, 10, 86_400),
      actBySeconds: within("inbox.actBySeconds", inbox.actBySeconds ?? 3600, 10, 3600),
    },
  };
}

/** @throws RangeError naming the option */
export function within(name: string, value: number, min: number, max: number): number {
  if (!(value >= min && value <= max)) throw new RangeError(`${name} must be within ${min}…${max}`);
  return value;
}

export function optionalWithin(name: string, value: number | undefined, min: number, max: number): void {
  if (value !== undefined) within(name, value, min, max);
}

/** As browsers write it: scheme, host and a port that is not the scheme's own, nothing after. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

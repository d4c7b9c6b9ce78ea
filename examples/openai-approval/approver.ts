import { randomBytes } from "node:crypto";
import {
  actionDigest,
  type Caller,
  copyExactly,
  createApiClient,
  type JsonObject,
  type Outcome,
  type Presentation,
  remoteKeys,
  type StatusAnswer,
  verifyReceipt,
} from "@countersign/mcp";
import type { ApprovalPage } from "../support/setting";
import type { ApprovalRequest, ApprovalResponse } from "./responses";

export type ApproverOptions = {
  url: string;
  apiKey: string;
  /** `cli_…`: whom receipts must be for. */
  clientId: string;
  /** Who talks to the model, from your own sign-in. */
  caller: Caller;
  /** Shows the person the link, in your own chat. */
  onLink: (page: ApprovalPage) => void;
  /** What the tool does, in your words. The model's arguments are shown beside it in any case, all of them. */
  describe: (request: ApprovalRequest) => Presentation;
};

export type Approver = {
  /** Asks the person about each request, and answers them all: `approve: true` only with the right to run, taken just then. */
  answer(requests: readonly ApprovalRequest[]): Promise<ApprovalResponse[]>;
  /** Tells Countersign what became of a call that was approved. */
  report(requestId: string, outcome: Outcome): Promise<void>;
};

type Action = { tool: string; arguments: JsonObject };
type Decided = { accepted: { id: string; action: Action } } | { refusal: string };

/** Turns approval requests of the Responses API into approvals by a person. */
export async function createApprover(options: ApproverOptions): Promise<Approver> {
  const { caller } = options;
  const api = createApiClient(options);
  const isGenuine = await receiptCheck(options);
  const granted = new Map<string, { id: string; consumerToken: string }>();

  const ask = async (request: ApprovalRequest): Promise<Decided> => {
    const action = actionOf(request);
    const presentation = options.describe(request);
    const { id, salt = "", elicitation } = await api.mint({ caller, action, presentation, reuse: "live" });
    options.onLink({ approvalId: id, message: `${elicitation.message}\n${elicitation.url}` });
    let decided = await api.wait(id, { seconds: 25 });
    while (decided.next === "wait") decided = await api.wait(id, { seconds: 25 });
    if (decided.next !== "run") return { refusal: refusalOf(decided) };
    return (await isGenuine(decided, { ...action, salt })) ? { accepted: { id, action } } : { refusal: UNVERIFIABLE };
  };
  const take = async (request: ApprovalRequest, decided: Decided): Promise<ApprovalResponse> => {
    if ("refusal" in decided) return answerTo(request, decided.refusal);
    const { id, action } = decided.accepted;
    // For this one run, in memory only: whoever loses it never runs.
    const consumerToken = randomBytes(32).toString("base64url");
    await api.consume(id, { caller, action, consumerToken });
    granted.set(request.id, { id, consumerToken });
    return answerTo(request);
  };

  return {
    async answer(requests) {
      const decisions = await Promise.all(
        requests.map(async (request) => ({ request, decided: await ask(request).catch(() => FAILED) })),
      );
      // Rights are taken when the last person has decided: what was approved minutes ago runs now or not at all.
      return await Promise.all(
        decisions.map(({ request, decided }) => take(request, decided).catch(() => answerTo(request, FAILED.refusal))),
      );
    },
    async report(requestId, outcome) {
      const grant = granted.get(requestId);
      if (grant === undefined) throw new Error(`${requestId} ran, and nobody approved it`);
      granted.delete(requestId);
      await api.reportOutcome(grant.id, { consumerToken: grant.consumerToken, outcome });
    },
  };
}

const UNVERIFIABLE = "The approval could not be verified.";
/** Whatever goes wrong is a no. */
const FAILED = { refusal: "No approval could be had for this. Nothing was run." };

/** Whether a receipt is Countersign's own, and accepts just this action. */
async function receiptCheck({ url, clientId, caller }: ApproverOptions) {
  const load = async (path: string) => (await fetch(url + path)).json();
  const { issuer } = (await load("/.well-known/countersign")) as { issuer: string };
  const pinned = { issuer, audience: clientId, keys: remoteKeys({ load: () => load("/.well-known/jwks.json") }) };
  return async ({ id, receipt = "" }: StatusAnswer, action: Action & { salt: string }): Promise<boolean> => {
    const expected = { approvalId: id, tool: action.tool, actionDigest: actionDigest(action), subject: caller };
    return (await verifyReceipt(receipt, { ...pinned, ...expected, decision: "accept" })).ok;
  };
}

/** Shown = signed = run: a value that JSON would alter is refused here, not rounded. */
function actionOf({ name, arguments: text }: ApprovalRequest): Action {
  const args = copyExactly(JSON.parse(text));
  if (typeof args !== "object" || args === null || Array.isArray(args)) throw new Error("the arguments are no object");
  return { tool: name, arguments: args as JsonObject };
}

function answerTo({ id }: ApprovalRequest, refusal?: string): ApprovalResponse {
  const answer = { type: "mcp_approval_response" as const, approval_request_id: id };
  return refusal === undefined ? { ...answer, approve: true } : { ...answer, approve: false, reason: refusal };
}

/** For the model: each ending apart, and the person's words as theirs. */
function refusalOf({ status, note }: StatusAnswer): string {
  return `The user did not approve this (${status}).${note === undefined ? "" : ` Their words: ${JSON.stringify(note)}`}`;
}

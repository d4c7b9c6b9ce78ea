import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import type { Caller } from "@countersign/mcp/api-types";
import { CountersignError } from "@countersign/mcp/errors";
import { ask, type Minted, withdraw } from "@countersign/mcp/gate/ask";
import { NotRun, toNotRun } from "@countersign/mcp/gate/endings";
import { conclude } from "@countersign/mcp/gate/fence";
import { type GuardedCall, openGuarded } from "@countersign/mcp/gate/guarded-call";
import { createParts } from "@countersign/mcp/gate/parts";
import type { CoreTool } from "@countersign/mcp/gate/spec";
import { waitForDecision } from "@countersign/mcp/gate/wait";
import type { RunPlan } from "./fault-plan";

type Context = { caller: Caller };

/** One MCP server process with one call of a tool, made of the kit's own parts. */
export type FaultCaller = {
  call: GuardedCall;
  /** Asks as the kit does, again and again until the service has said something. Throws NotRun where it says no. */
  mint(): Promise<Minted>;
  /** One attempt to run it: waits, consumes, runs, reports; begins again where the service could not be reached. How that ended. */
  attempt(minted: Minted): Promise<string>;
  /** Reports of an outcome that did not arrive. */
  reportsFailed(): number;
  /** As a chat app does whose person closes the call. */
  withdraw(id: string): Promise<void>;
};

export type CallerOptions = {
  plan: RunPlan;
  url: string;
  apiKey: string;
  clientId: string;
  caller: Caller;
  /** Gets a line for each execution of the tool: the run and the approval. */
  effectsFile: string;
  ttlSeconds: number;
  actBySeconds: number;
  endsAt: number;
};

export const toolName = "delete_project";

export async function createFaultCaller(options: CallerOptions): Promise<FaultCaller> {
  const { plan, caller, endsAt } = options;
  const life = { isOver: false };
  let reportsFailed = 0;
  const parts = createParts<Context>(
    {
      url: options.url,
      apiKey: options.apiKey,
      clientId: options.clientId,
      resolveCaller: (ctx) => ctx.caller,
      maxApprovalsPerWorkflow: 10,
      onEvent: (event) => {
        if (event.type === "call_failed" && event.call === "outcome") reportsFailed += 1;
      },
      fetch: mortalFetch(life, plan.story === "dies_before_run"),
    },
    undefined,
  );
  const args = { project_id: `p_${plan.run}`, expected_items: plan.run };
  const call = await openGuarded(parts, toolOf(options, life), {
    args,
    ctx: { caller },
    mcp: {
      era: "push",
      can: { url: true, form: false },
      clientInfo: { name: "fault-suite" },
      sessionId: `run-${plan.run}`,
      signal: new AbortController().signal,
      reportProgress: async () => {},
      prompt: () => Promise.reject(new TypeError("nobody is asked here")),
      complete: async () => {},
    },
  });
  const idempotencyKey = randomUUID();
  const mintOnce = () => (plan.repeatsBy === "reuse" ? ask(call) : mintByKey(call, idempotencyKey));
  return {
    call,
    mint: () => untilSaid(mintOnce, endsAt, () => life.isOver),
    attempt: (minted) =>
      untilSaid(
        async () => {
          const signal = AbortSignal.timeout(Math.max(1, endsAt - Date.now()));
          const answer = await waitForDecision(call, minted.id, { signal });
          await conclude(call, answer, minted);
          return "ran";
        },
        endsAt,
        () => life.isOver,
      ).catch((error: unknown) => (life.isOver ? "died" : toNotRun(error).ending)),
    reportsFailed: () => reportsFailed,
    withdraw: (id) => withdraw(call, id, "aborted"),
  };
}

function toolOf(options: CallerOptions, life: { isOver: boolean }): CoreTool<3, Context> {
  const { plan, ttlSeconds, actBySeconds } = options;
  return {
    tool: toolName,
    tier: 3,
    spec: {
      presentation: () => ({ title: `Delete project ${plan.run}`, purpose: "It is planned", irreversible: true }),
      requirements: { matchCode: plan.matchCode },
      ttlSeconds,
      actBySeconds,
      metadata: { run: plan.run },
    },
    handler: async (_args, _ctx, grant) => {
      appendFileSync(options.effectsFile, `${plan.run} ${grant.approvalId}\n`);
      if (plan.story === "dies_after_run") life.isOver = true;
      if (plan.story === "tool_fails") throw new Error("the project could not be deleted");
      return { content: [{ type: "text", text: "deleted" }] };
    },
  };
}

/** The body of `ask`, without `reuse`: one key makes the repetitions one request. */
async function mintByKey(call: GuardedCall, idempotencyKey: string): Promise<Minted> {
  const { caller, action, terms, parts } = call;
  return parts.api.mint({ caller, action, presentation: await call.present(), ...terms }, { idempotencyKey });
}

const passing = new Set(["unreachable", "internal"]);

/** As whoever calls the tool would: comes back while the service cannot be reached. */
async function untilSaid<T>(work: () => Promise<T>, endsAt: number, isOver: () => boolean): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const isPassing =
        passing.has(toNotRun(error).ending) && !(error instanceof CountersignError && error.status === 409);
      if (!isPassing || isOver() || Date.now() > endsAt) throw error instanceof NotRun ? error : toNotRun(error);
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** The calls of a process that may die: with the answer that grants the run in its hands, or when `life` says so. */
function mortalFetch(
  life: { isOver: boolean },
  diesOfGrant: boolean,
): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    if (life.isOver) throw new TypeError("this process is dead");
    const response = await fetch(url, init);
    if (diesOfGrant && url.endsWith("/consume") && response.ok) life.isOver = true;
    if (life.isOver) throw new TypeError("this process is dead");
    return response;
  };
}

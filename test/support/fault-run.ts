import type { Minted } from "@countersign/mcp/gate/ask";
import { NotRun } from "@countersign/mcp/gate/endings";
import { createFaultCaller, type FaultCaller } from "./fault-caller";
import { decideOnPage, type PageVisit, type PersonActs, takeBackOnPage } from "./fault-person";
import type { RunPlan, Story } from "./fault-plan";
import type { FaultStage } from "./fault-stage";

/** What everybody in a run knows about it in the end. */
export type RunResult = {
  plan: RunPlan;
  /** Absent where the service never said that it was minted. */
  minted: Minted | undefined;
  /** How each attempt to run it ended: `ran`, `died`, or what kept it. */
  endings: string[];
  /** Reports of an outcome that did not arrive. */
  reportsFailed: number;
  decided: PersonActs | undefined;
  tookBack: PersonActs | undefined;
  /** What should not have happened at all. */
  error: string | undefined;
};

/** How long a run may take; what is not over by then hangs. */
const runMaxMs = 150_000;

/** Mint → decide → consume → outcome, as its story has it. Never rejects. */
export async function playRun(stage: FaultStage, plan: RunPlan): Promise<RunResult> {
  const result: RunResult = {
    plan,
    minted: undefined,
    endings: [],
    reportsFailed: 0,
    decided: undefined,
    tookBack: undefined,
    error: undefined,
  };
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((_, reject) => {
    timer = setTimeout(() => reject(new Error("it was not over in time")), runMaxMs);
  });
  await Promise.race([play(stage, plan, result), late])
    .catch((error: Error) => {
      result.error = error.stack ?? error.message;
    })
    .finally(() => clearTimeout(timer));
  return result;
}

async function play(stage: FaultStage, plan: RunPlan, result: RunResult): Promise<void> {
  const { story } = plan;
  const person = stage.people[plan.person];
  const client = stage.clients[plan.client];
  if (!person || !client) throw new Error("nobody is there");
  const endsAt = Date.now() + runMaxMs - 30_000;
  const caller = await createFaultCaller({
    plan,
    url: stage.proxy.url,
    ...client,
    caller: { iss: person.iss, sub: person.sub, clientId: "chat-app" },
    effectsFile: stage.effectsFile,
    ttlSeconds: story === "expires" ? 10 : 60,
    actBySeconds: story === "lapses" ? 10 : 40,
    endsAt,
  });
  try {
    result.minted = await caller.mint();
  } catch (error) {
    result.endings.push(error instanceof NotRun ? error.ending : "internal");
    return;
  }
  const { minted } = result;
  const { cookie } = person;
  const visit: PageVisit = {
    url: minted.url,
    cookie,
    matchCode: minted.matchCode,
    readsForMs: plan.readsForMs,
    endsAt,
  };
  await stories[story]({ caller, minted, visit, result });
  result.reportsFailed = caller.reportsFailed();
}

type Scene = { caller: FaultCaller; minted: Minted; visit: PageVisit; result: RunResult };

/** The person decides while the callers wait. */
async function together(
  { caller, minted, visit, result }: Scene,
  decision: "accept" | "decline" | "cancel",
): Promise<void> {
  const attempts = Array.from({ length: result.plan.attempts }, () => caller.attempt(minted));
  result.decided = await decideOnPage(visit, decision);
  result.endings.push(...(await Promise.all(attempts)));
}

const accepted = (scene: Scene) => together(scene, "accept");

const stories: Record<Story, (scene: Scene) => Promise<void>> = {
  runs: accepted,
  tool_fails: accepted,
  dies_before_run: accepted,
  dies_after_run: accepted,
  declined: (scene) => together(scene, "decline"),
  cancelled: (scene) => together(scene, "cancel"),
  // The page stays open, and nobody presses anything.
  expires: async ({ caller, minted, result }) => {
    result.endings.push(await caller.attempt(minted));
  },
  // The callers come when it has been taken back, or, every other time, at the same moment.
  taken_back: async ({ caller, minted, visit, result }) => {
    result.decided = await decideOnPage(visit, "accept");
    const isRace = result.plan.run % 2 === 0;
    const attempt = isRace ? caller.attempt(minted) : undefined;
    result.tookBack = await takeBackOnPage(visit);
    result.endings.push(await (attempt ?? caller.attempt(minted)));
  },
  lapses: async ({ visit, result }) => {
    result.decided = await decideOnPage(visit, "accept");
  },
  withdrawn_pending: async ({ caller, minted, result }) => {
    await caller.withdraw(minted.id);
    result.endings.push(await caller.attempt(minted));
  },
  withdrawn_accepted: async ({ caller, minted, visit, result }) => {
    result.decided = await decideOnPage(visit, "accept");
    const isRace = result.plan.run % 2 === 0;
    const attempt = isRace ? caller.attempt(minted) : undefined;
    await caller.withdraw(minted.id);
    result.endings.push(await (attempt ?? caller.attempt(minted)));
  },
};

import { appendFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Evidence, gatherEvidence } from "@/test/support/fault-evidence";
import { guarantees } from "@/test/support/fault-guarantees";
import { planFaults, type RunPlan } from "@/test/support/fault-plan";
import { playRun, type RunResult } from "@/test/support/fault-run";
import { type FaultStage, startFaultStage } from "@/test/support/fault-stage";

const seed = Number(process.env["FAULT_SEED"] ?? Math.floor(Math.random() * 2 ** 31));
const runCount = Number(process.env["FAULT_RUNS"] ?? 500);
const atOnce = 16;

let stage: FaultStage;
let evidence: Evidence;

beforeAll(async () => {
  const plan = planFaults(seed, runCount);
  say(
    `FAULT_SEED=${seed} FAULT_RUNS=${runCount}: ${plan.runs.length} runs, ${plan.faults.length} faults, plan ${plan.digest}`,
  );
  stage = await startFaultStage(plan);
  const startedAt = performance.now();
  const results = await playAll(plan.runs);
  const playedAt = performance.now();
  evidence = await gatherEvidence(stage, plan, results);
  const seconds = [playedAt - startedAt, performance.now() - playedAt].map((ms) => (ms / 1000).toFixed(0));
  say(`played in ${seconds[0]} s, settled in ${seconds[1]} s`);
  sayCounts();
}, 480_000);
afterAll(() => stage?.stop(), 60_000);

describe(`${runCount} runs while servers are killed, frozen and cut off and PostgreSQL is restarted`, () => {
  it.each(guarantees)("$sentence", async ({ sentence, contradictions }) => {
    const found = await contradictions(evidence);
    if (found.length > 0)
      appendFileSync(path.join(stage.folder, "found.log"), `${sentence}\n  ${found.join("\n  ")}\n`);
    expect(found.slice(0, 20)).toEqual([]);
  });
});

async function playAll(runs: RunPlan[]): Promise<RunResult[]> {
  const waiting = [...runs];
  const results: RunResult[] = [];
  const play = async () => {
    for (let plan = waiting.shift(); plan; plan = waiting.shift()) results.push(await playRun(stage, plan));
  };
  await Promise.all(Array.from({ length: atOnce }, play));
  return results;
}

function sayCounts(): void {
  const { results, approvals, effects, faultsDone, answers, received, ends, unreported } = evidence;
  const counts = (names: string[]) => {
    const sums = new Map<string, number>();
    for (const name of names) sums.set(name, (sums.get(name) ?? 0) + 1);
    return listed(sums);
  };
  const rows = [...approvals.values()];
  say(`runs: ${effects.length} executed, ${results.length - effects.length} not`);
  say(
    `approvals: ${counts(rows.map(({ status, reason, outcome }) => [status, reason, outcome].filter(Boolean).join("/")))}`,
  );
  say(`attempts: ${counts(results.flatMap(({ endings }) => endings))}`);
  say(`faults: ${listed(faultsDone)}; processes ended: ${counts(ends.map(({ by }) => String(by)))}`);
  say(
    `outcomes nobody reported: ${unreported.size}; webhooks: ${received.length} received, ${listed(stage.receiver.answers)}`,
  );
  say(`answers: ${listed(answers)}`);
}

const listed = (counts: Map<string, number>) =>
  [...counts]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, count]) => `${count} ${name}`)
    .join(", ");

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

import {
  decisionsNotPressed,
  executedWithoutReceipt,
  lostDecisions,
  unexplained,
  wrongDeliveries,
  wrongHistories,
  wrongOutcomes,
} from "./fault-contradictions";
import type { Evidence } from "./fault-evidence";

/** Each says what contradicts it; nothing is what holds. */
export type Guarantee = { sentence: string; contradictions(evidence: Evidence): string[] | Promise<string[]> };

export const guarantees: Guarantee[] = [
  {
    sentence: "every run came to an end, and everybody in it was answered as the contract says",
    contradictions: ({ results }) =>
      results.flatMap(({ plan, error, decided, tookBack, endings }) => [
        ...(error === undefined ? [] : [`run ${plan.run} (${plan.story}): ${error}`]),
        ...[...(decided?.surprises ?? []), ...(tookBack?.surprises ?? [])].map((each) => `run ${plan.run}: ${each}`),
        ...endings.filter((ending) => !known.has(ending)).map((ending) => `run ${plan.run} (${plan.story}): ${ending}`),
      ]),
  },
  {
    sentence: "I5: no run was executed twice, and each of its executions is the one that was granted",
    contradictions: ({ effects, approvals, audit }) => {
      const minted = audit.filter(({ type }) => type === "approval.minted");
      const runOf = new Map(minted.map(({ approval_id, run }) => [approval_id, run]));
      const counts = new Map<number, number>();
      for (const { run } of effects) counts.set(run, (counts.get(run) ?? 0) + 1);
      return [
        ...[...counts].filter(([, count]) => count > 1).map(([run, count]) => `run ${run} was executed ${count} times`),
        ...effects
          .filter(({ run, approvalId }) => !approvals.get(approvalId)?.consumed_at || runOf.get(approvalId) !== run)
          .map(({ run, approvalId }) => `run ${run} was executed by ${approvalId}, which was not consumed for it`),
      ];
    },
  },
  {
    sentence: "what was executed has a receipt of an accept that verifies offline, and its person had pressed Approve",
    contradictions: executedWithoutReceipt,
  },
  {
    sentence: "what was not executed has a reason, signed where a person or a deadline gave it",
    contradictions: unexplained,
  },
  {
    sentence: "each run has one approval, however often it was asked for (I14)",
    contradictions: ({ audit, results }) => {
      const minted = audit.filter(({ type }) => type === "approval.minted");
      const perRun = new Map<number, number>();
      for (const { run } of minted) perRun.set(run ?? -1, (perRun.get(run ?? -1) ?? 0) + 1);
      return results
        .filter(({ plan, minted: answer }) => (perRun.get(plan.run) ?? 0) !== 1 && (answer || perRun.has(plan.run)))
        .map(({ plan }) => `run ${plan.run} (${plan.repeatsBy}) has ${perRun.get(plan.run) ?? 0} approvals`);
    },
  },
  {
    sentence: "I1: nothing was decided but what its person had pressed",
    contradictions: decisionsNotPressed,
  },
  { sentence: "I14: no decision is lost that its person was told was made", contradictions: lostDecisions },
  {
    sentence: "an outcome is what was reported, and unknown only where whoever ran it died or could not report",
    contradictions: wrongOutcomes,
  },
  {
    sentence: "I8: the history of each approval is one of the contract's, numbered from 1 without gaps",
    contradictions: wrongHistories,
  },
  {
    sentence:
      "webhook events equal audit events: each came at least once, signed, with what the history says, and no other",
    contradictions: wrongDeliveries,
  },
  {
    sentence: "nothing is stuck: no open approval, no event, no lock, no transaction",
    contradictions: ({ stuck }) => stuck,
  },
  {
    sentence: "a fault is answered 502 or 503, or not at all, and never 500",
    contradictions: ({ answers }) =>
      [...answers].filter(([key]) => key.endsWith(" 500")).map(([key, count]) => `${count} × ${key}`),
  },
  {
    sentence: "no process that was ready ended by itself",
    contradictions: ({ ends }) =>
      ends
        .filter(({ by, wasReady }) => by !== "SIGKILL" && (wasReady || by !== 1))
        .map(({ by, wasReady }) => `a process ended by ${by}, ${wasReady ? "ready" : "starting"}`),
  },
  {
    sentence: "every kind of fault came to pass, and every story was told",
    contradictions: ({ faultsDone, plan, results }) => [
      ...[...new Set(plan.faults.map(({ kind }) => kind))]
        .filter((kind) => ![...faultsDone.keys()].some((done) => done.startsWith(kind)))
        .map((kind) => `no ${kind}`),
      ...(results.length === plan.runs.length ? [] : [`${results.length} of ${plan.runs.length} runs`]),
      ...(results.some(({ endings }) => endings.includes("ran")) ? [] : ["nothing ran"]),
    ],
  },
];

/** Endings of an attempt that the contract has. `died`: its process was made to. */
const known = new Set([
  ...["ran", "died", "declined", "cancelled", "expired", "lapsed", "unreachable"],
  ...["withdrawn_taken_back", "withdrawn_aborted", "not_started"],
  ...["already_run_succeeded", "already_run_failed", "already_run_unknown"],
]);

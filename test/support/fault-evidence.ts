import { readFileSync } from "node:fs";
import { localKeys } from "@countersign/mcp/jwks";
import type { KeyLookup } from "@countersign/mcp/receipt";
import pg from "pg";
import type { FaultPlan } from "./fault-plan";
import type { ReceivedEvent } from "./fault-receiver";
import type { RunResult } from "./fault-run";
import type { FaultStage } from "./fault-stage";

export type ApprovalRow = {
  id: string;
  client_id: string;
  status: string;
  reason: string | null;
  decision: string | null;
  receipt: string | null;
  consumed_at: Date | null;
  outcome: string | null;
  outcome_code: string | null;
  outcome_derived: boolean;
  settled_at: Date | null;
  seq: number;
};
export type EventRow = { type: string; client_id: string; approval_id: string; approval_seq: number };
export type AuditRow = EventRow & { decision: string | null; reason: string | null; run: number | null };

/** All that is left when the dust has settled. */
export type Evidence = {
  plan: FaultPlan;
  results: RunResult[];
  issuer: string;
  /** The published key set: receipts are verified with it and nothing else. */
  keys: KeyLookup;
  approvals: Map<string, ApprovalRow>;
  /** Of approvals, in the order of the history. */
  audit: AuditRow[];
  outbox: EventRow[];
  received: ReceivedEvent[];
  forged: string[];
  /** Lines that the tool left: run and approval. */
  effects: { run: number; approvalId: string }[];
  /** Approvals whose outcome nobody had reported: 900 s were then let pass at once. */
  unreported: Set<string>;
  stuck: string[];
  answers: Map<string, number>;
  ends: { by: NodeJS.Signals | number; wasReady: boolean }[];
  faultsDone: Map<string, number>;
};

/** Waits until nothing is left to do, at most as long as the longest deadline and a minute; then reads everything. */
export async function gatherEvidence(stage: FaultStage, plan: FaultPlan, results: RunResult[]): Promise<Evidence> {
  await stage.chaos.end();
  stage.receiver.behave();
  await stage.proxy.untilHealthy(stage.replicas.length);
  const db = new pg.Client({ connectionString: stage.databaseUrl });
  await db.connect();
  try {
    const open = await untilNone(db, openSql, 130_000);
    const unreported = await letOutcomesPass(db);
    const underived = await untilNone(db, unsettledSql, 30_000);
    const undelivered = await untilDelivered(db);
    const idle = await untilNone(db, idleSql, 20_000);
    const locks = await untilNone(db, locksSql, 20_000);
    return {
      plan,
      results,
      issuer: stage.issuer,
      keys: await localKeys(await (await fetch(`${stage.proxy.url}/.well-known/jwks.json`)).json()),
      ...(await readRows(db)),
      received: [...stage.receiver.events],
      forged: [...stage.receiver.forged],
      effects: readEffects(stage.effectsFile),
      unreported,
      stuck: [...open, ...underived, ...undelivered, ...idle, ...locks],
      answers: stage.proxy.answers,
      ends: stage.replicas.flatMap((replica) => replica.ends),
      faultsDone: stage.chaos.done,
    };
  } finally {
    await db.end();
  }
}

// A second of the worker's, one to do it, and as many for a machine that is busy.
const graceSql = "clock_timestamp() - INTERVAL '10 seconds'";
const openSql = `
SELECT 'open: ' || "id" || ' ' || "status" AS "what" FROM "approval"
WHERE "status" = 'pending' OR ("status" = 'accepted' AND "consumed_at" IS NULL AND "settled_at" IS NULL)`;
const unsettledSql = `SELECT 'not settled: ' || "id" || ' ' || "status" AS "what" FROM "approval" WHERE "settled_at" IS NULL`;
const deliveriesSql = `
SELECT 'not handed out: event ' || "id" AS "what" FROM "outbox" WHERE "dispatched_at" IS NULL
UNION ALL SELECT 'not delivered: ' || "id" || ' ' || "status" FROM "webhook_delivery" WHERE "status" <> 'delivered'`;
const idleSql = `
SELECT 'in a transaction and idle: process ' || "pid" AS "what" FROM pg_stat_activity
WHERE "state" LIKE 'idle in transaction%' AND "state_change" < ${graceSql} AND "pid" <> pg_backend_pid()`;
const locksSql = `SELECT 'waits for a lock: process ' || "pid" AS "what" FROM pg_locks WHERE NOT "granted"`;

async function untilNone(db: pg.Client, sql: string, timeoutMs: number): Promise<string[]> {
  const endsAt = Date.now() + timeoutMs;
  for (;;) {
    const { rows } = await db.query<{ what: string }>(sql);
    if (rows.length === 0 || Date.now() > endsAt) return rows.map(({ what }) => what);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** As if the quarter of an hour were over after which nobody is expected to report any more. */
async function letOutcomesPass(db: pg.Client): Promise<Set<string>> {
  const { rows } = await db.query<{ id: string }>(
    `UPDATE "approval" SET "consumed_at" = "consumed_at" - INTERVAL '901 seconds'
     WHERE "consumed_at" IS NOT NULL AND "outcome" IS NULL RETURNING "id"`,
  );
  return new Set(rows.map(({ id }) => id));
}

/** As if the time of the next attempt had come, for what the schedule puts off by minutes; leases run out by themselves. */
async function untilDelivered(db: pg.Client): Promise<string[]> {
  const hurry = setInterval(() => {
    void db.query(
      `UPDATE "webhook_delivery" SET "next_at" = clock_timestamp() WHERE "status" = 'pending' AND "lease" IS NULL`,
    );
  }, 2_000);
  const left = await untilNone(db, deliveriesSql, 100_000);
  clearInterval(hurry);
  return left;
}

async function readRows(db: pg.Client) {
  const approvals = await db.query<ApprovalRow>(`SELECT * FROM "approval"`);
  const audit = await db.query<AuditRow>(
    `SELECT "type", "client_id", "approval_id", "approval_seq", "decision", "reason", ("metadata" ->> 'run')::int AS "run"
     FROM "audit_event" WHERE "approval_id" IS NOT NULL ORDER BY "approval_id", "approval_seq", "seq"`,
  );
  const outbox = await db.query<EventRow>(`SELECT "type", "client_id", "approval_id", "approval_seq" FROM "outbox"`);
  return {
    approvals: new Map(approvals.rows.map((row) => [row.id, row])),
    audit: audit.rows,
    outbox: outbox.rows,
  };
}

function readEffects(file: string): Evidence["effects"] {
  const lines = readFileSync(file, "utf8").split("\n").filter(Boolean);
  return lines.map((line) => {
    const [run = "", approvalId = ""] = line.split(" ");
    return { run: Number(run), approvalId };
  });
}

import { randomBytes } from "node:crypto";
import type { EventEmitter } from "node:events";
import {
  type Caller,
  countEvent,
  type Decision,
  digestOf,
  type FakeApproval,
  instant,
  newApprovalId,
  nextOf,
  receiptClaims,
  type Signer,
  STATUS_OF,
} from "./approval";
import type { Fault } from "./serve";

export type Json = Record<string, unknown>;
export type Answer = { status: number; body: Json; headers?: Record<string, string> };
export type Seen = { route: string; id?: string; body: Json; headers: Readonly<Record<string, string | undefined>> };

/** What the stand-in holds. `overrides` forge what it signs and answers. */
export type FakeState = {
  url: string;
  clientId: string;
  apiKey: string;
  signer: Signer;
  approvals: Map<string, FakeApproval>;
  bus: EventEmitter;
  overrides: { claims?: Json; header?: Json; actionDigest?: string; effectiveRequirements?: Json };
  seen: Seen[];
  faults: { route: string; fault: Fault }[];
  /** What happens before a request of a route is handled. */
  hooks: Map<string, () => Promise<void>>;
  /** How each approval is decided as soon as it is asked for. */
  answer: Decision | undefined;
};

/** State and receipt change together, as in one transaction (I8). */
export async function change(state: FakeState, approval: FakeApproval, to: Partial<FakeApproval>): Promise<void> {
  const claims = { ...receiptClaims({ ...approval, ...to }, state.url, state.clientId), ...state.overrides.claims };
  const receipt = await state.signer.sign(claims, state.overrides.header);
  Object.assign(approval, to, { receipt });
  countEvent(approval);
  state.bus.emit(`changed ${approval.id}`);
}

export async function mint(state: FakeState, body: Json): Promise<Answer> {
  const { checks = [] } = body["presentation"] as { checks?: { claimed: unknown; actual: unknown }[] };
  if (checks.some(({ claimed, actual }) => claimed !== actual)) return problem(422, "check_mismatch");
  const action = body["action"] as FakeApproval["action"];
  const caller = body["caller"] as Caller;
  const shown = JSON.stringify([caller, action, body["presentation"], body["preconditions"] ?? null]);
  const live = [...state.approvals.values()].find((candidate) => candidate.shown === shown && isOpen(candidate));
  const approval = live ?? newApproval(caller, action, shown, body);
  state.approvals.set(approval.id, approval);
  state.bus.emit("minted", approval.id);
  const { answer } = state;
  if (answer !== undefined && approval.status === "pending")
    await change(state, approval, { decision: answer, status: STATUS_OF[answer] });
  const url = `${state.url}/a/${approval.id}`;
  return {
    status: live === undefined ? 201 : 200,
    body: {
      ...statusOf(approval),
      createdAt: approval.createdAt,
      expiresAt: approval.expiresAt,
      actionDigest: state.overrides.actionDigest ?? approval.actionDigest,
      salt: approval.salt,
      url,
      matchCode: "47",
      effectiveRequirements: state.overrides.effectiveRequirements ?? {},
      elicitation: { mode: "url", url, message: `CRM asks: ${approval.title} (code 47)` },
      record: "not.a.record",
    },
  };
}

export function consume(approval: FakeApproval, body: Json): Answer {
  const { consumerToken, outcome = null } = approval;
  const replayed = consumerToken === body["consumerToken"];
  if (consumerToken !== undefined && !replayed) {
    return problem(409, "already_consumed", { consumedAt: approval.consumedAt, outcome });
  }
  if (approval.status !== "accepted") return problem(409, "not_accepted");
  if (approval.lapsed) return problem(409, "lapsed");
  if (JSON.stringify(body["caller"]) !== JSON.stringify(approval.caller)) return problem(409, "caller_mismatch");
  const action = body["action"] as FakeApproval["action"];
  if (digestOf(action, approval.salt) !== approval.actionDigest) return problem(409, "action_mismatch");
  if (JSON.stringify(body["preconditions"] ?? null) !== approval.preconditions) return problem(409, "stale");
  if (!replayed) countEvent(approval);
  approval.consumerToken = String(body["consumerToken"]);
  approval.consumedAt ??= instant();
  return { status: 200, body: { granted: true, replayed, receipt: approval.receipt } };
}

export async function withdraw(state: FakeState, approval: FakeApproval, body: Json): Promise<Answer> {
  if (!isOpen(approval)) return problem(409, "already_decided");
  await change(state, approval, { status: "withdrawn", decision: undefined, reason: String(body["reason"]) });
  return { status: 200, body: statusOf(approval) };
}

export function reportOutcome(approval: FakeApproval, body: Json): Answer {
  if (approval.consumerToken !== body["consumerToken"]) return problem(409, "consumer_mismatch");
  if (approval.outcome === undefined) countEvent(approval);
  approval.outcome = String(body["outcome"]);
  return { status: 200, body: statusOf(approval) };
}

export function statusOf(approval: FakeApproval): Json {
  const { id, status, decision, note, receipt, outcome, caller, consumerToken, createdAt, consumedAt } = approval;
  const subject = { iss: caller.iss, sub: caller.sub };
  const consumed = consumerToken !== undefined;
  const body = {
    id,
    status,
    next: nextOf(approval),
    decision,
    note,
    receipt,
    outcome,
    caller,
    subject,
    consumed,
    createdAt,
    consumedAt,
    actionDigest: approval.actionDigest,
    salt: approval.salt,
  };
  return JSON.parse(JSON.stringify(body)) as Json;
}

export function problem(status: number, code: string, extras: Json = {}): Answer {
  return { status, body: { type: `urn:countersign:problem:${code}`, title: code, status, code, ...extras } };
}

function isOpen(approval: FakeApproval): boolean {
  return nextOf(approval) === "wait" || nextOf(approval) === "run";
}

function newApproval(caller: Caller, action: FakeApproval["action"], shown: string, body: Json): FakeApproval {
  const salt = randomBytes(16).toString("base64url");
  const { title } = body["presentation"] as { title: string | { en: string } };
  return {
    id: newApprovalId(),
    status: "pending",
    caller,
    action,
    salt,
    actionDigest: digestOf(action, salt),
    shown,
    preconditions: JSON.stringify(body["preconditions"] ?? null),
    title: typeof title === "string" ? title : title.en,
    lapsed: false,
    createdAt: instant(),
    expiresAt: instant(300),
  };
}

import { describe, expect, it } from "vitest";
import type { Accepted, Approval, ApprovalBase, Pending } from "@/lib/approvals/approval";
import { isLapsed, nextFor, statusAt } from "@/lib/approvals/approval";
import { type Command, transition } from "@/lib/approvals/transitions";

const t0 = new Date("2026-12-01T10:00:00.400Z");
const later = (seconds: number) => new Date(t0.getTime() + seconds * 1000);
const base: ApprovalBase = {
  id: "apr_00000000000000000000000000",
  clientId: "cli_1",
  tool: "delete_project",
  argumentNames: [],
  title: "Delete",
  retainTitle: true,
  subject: { iss: "https://as.example", sub: "u1" },
  caller: { iss: "https://as.example", sub: "u1" },
  actionDigest: "sha256:00",
  policyVersion: 1,
  record: "r",
  actionTag: null,
  reuseTag: null,
  matchTag: null,
  revokedKids: [],
  traceContext: null,
  matchTries: 0,
  createdAt: t0,
  expiresAt: later(300),
  actBySeconds: 300,
  note: null,
  erasedAt: null,
  seq: 1,
  version: 1,
};
const pending: Pending = { ...base, status: "pending" };
const accepted: Accepted = {
  ...base,
  status: "accepted",
  decidedAt: t0,
  actBy: later(300),
  receipt: "x",
  settledAt: null,
  consumption: { at: null },
};
const consumed: Accepted = {
  ...accepted,
  consumption: { at: later(5), consumerHash: new Uint8Array(32), outcome: null },
};
const ended = { receipt: "x", settledAt: t0 };
const all: Record<string, Approval> = {
  pending,
  accepted,
  consumed,
  declined: { ...base, status: "declined", decidedAt: t0, reason: null, ...ended },
  cancelled: { ...base, status: "cancelled", decidedAt: t0, ...ended },
  expired: { ...base, status: "expired", ...ended },
  withdrawn: { ...base, status: "withdrawn", decidedAt: null, reason: "aborted", ...ended },
};
const commands: Command[] = [
  { kind: "decide", decision: "accept" },
  { kind: "decide", decision: "decline" },
  { kind: "decide", decision: "cancel" },
  { kind: "wrong_code" },
  { kind: "withdraw", reason: "aborted" },
  { kind: "expire" },
  { kind: "lapse" },
  { kind: "consume", consumerHash: new Uint8Array(32) },
  { kind: "report", outcome: "succeeded" },
  { kind: "derive_unknown" },
];

/** Section 5, drawn as a table: what each command makes of each state, in time and after every deadline. */
const picture = (now: Date) =>
  Object.fromEntries(
    Object.entries(all).map(([name, approval]) => [
      name,
      commands.map((command) => {
        const step = transition(approval, command, now);
        return step.ok ? `${step.next.status}${step.event ? `+${step.event}` : ""}` : `-${step.reason}`;
      }),
    ]),
  );

describe("the states of an approval", () => {
  it("I4, I5: only the drawn transitions exist while all windows are open", () => {
    expect(picture(later(10))).toEqual({
      pending: [
        "accepted+accepted",
        "declined+declined",
        "cancelled+cancelled",
        "pending",
        "withdrawn+withdrawn",
        "-not_due",
        "-not_accepted",
        "-not_accepted",
        "-not_consumed",
        "-not_consumed",
      ],
      accepted: [
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "withdrawn+withdrawn",
        "-already_decided",
        "-not_due",
        "accepted+consumed",
        "-not_consumed",
        "-not_consumed",
      ],
      consumed: [
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_consumed",
        "-already_decided",
        "-already_consumed",
        "-already_consumed",
        "accepted+outcome",
        "-not_due",
      ],
      declined: [
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-not_accepted",
        "-not_accepted",
        "-not_consumed",
        "-not_consumed",
      ],
      cancelled: [
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-not_accepted",
        "-not_accepted",
        "-not_consumed",
        "-not_consumed",
      ],
      expired: [
        "-expired",
        "-expired",
        "-expired",
        "-already_decided",
        "-expired",
        "-already_decided",
        "-not_accepted",
        "-not_accepted",
        "-not_consumed",
        "-not_consumed",
      ],
      withdrawn: [
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-already_decided",
        "-not_accepted",
        "-not_accepted",
        "-not_consumed",
        "-not_consumed",
      ],
    });
  });

  it("I6, I12: after the deadlines nothing is decided, consumed or withdrawn any more", () => {
    const late = picture(later(2_000));
    expect(late["pending"]).toEqual([
      "-expired",
      "-expired",
      "-expired",
      "-expired",
      "-expired",
      "expired+expired",
      "-not_accepted",
      "-not_accepted",
      "-not_consumed",
      "-not_consumed",
    ]);
    expect(late["accepted"]).toEqual([
      "-already_decided",
      "-already_decided",
      "-already_decided",
      "-already_decided",
      "-lapsed",
      "-already_decided",
      "accepted+lapsed",
      "-lapsed",
      "-not_consumed",
      "-not_consumed",
    ]);
    expect(late["consumed"]?.slice(8)).toEqual(["accepted+outcome", "accepted+outcome"]);
  });

  it("I6: the last instant belongs to nobody: at the deadline itself it is over", () => {
    expect(transition(pending, { kind: "decide", decision: "accept" }, pending.expiresAt)).toEqual({
      ok: false,
      reason: "expired",
    });
    expect(transition(accepted, { kind: "consume", consumerHash: new Uint8Array(32) }, accepted.actBy)).toEqual({
      ok: false,
      reason: "lapsed",
    });
    expect(
      transition(pending, { kind: "decide", decision: "accept" }, new Date(pending.expiresAt.getTime() - 1)),
    ).toMatchObject({ ok: true, validUntil: pending.expiresAt });
  });

  it("signs whole seconds and never stretches the act-by window by rounding", () => {
    const step = transition(pending, { kind: "decide", decision: "accept" }, new Date("2026-12-01T10:01:00.999Z"));
    expect(step).toMatchObject({
      next: { decidedAt: new Date("2026-12-01T10:01:00.000Z"), actBy: new Date("2026-12-01T10:06:00.000Z") },
    });
  });

  it("withdraws at the third wrong code, and counts no more", () => {
    const twice = { ...pending, matchTries: 2 };
    expect(transition(pending, { kind: "wrong_code" }, t0)).toMatchObject({
      ok: true,
      event: null,
      next: { status: "pending", matchTries: 1 },
    });
    expect(transition(twice, { kind: "wrong_code" }, t0)).toMatchObject({
      ok: true,
      event: "withdrawn",
      next: { status: "withdrawn", reason: "match_failed", matchTries: 3 },
    });
  });

  it("lets a late report replace an outcome that was only derived, and nothing else", () => {
    const derived = {
      ...consumed,
      settledAt: later(905),
      consumption: {
        ...consumed.consumption,
        at: later(5),
        consumerHash: new Uint8Array(32),
        outcome: { value: "unknown", at: later(905), code: null, isDerived: true },
      },
    } as Accepted;
    const late = transition(derived, { kind: "report", outcome: "failed", code: "timeout" }, later(1_000));
    expect(late).toMatchObject({
      ok: true,
      next: { settledAt: later(905), consumption: { outcome: { value: "failed", code: "timeout", isDerived: false } } },
    });
    if (!late.ok) throw new Error("the late report was refused");
    expect(transition(late.next, { kind: "report", outcome: "succeeded" }, later(1_001))).toEqual({
      ok: false,
      reason: "outcome_already_reported",
    });
    expect(transition(derived, { kind: "report", outcome: "unknown" }, later(1_001))).toEqual({
      ok: false,
      reason: "outcome_already_reported",
    });
  });

  it("tells a caller in one word what to do next", () => {
    expect(Object.entries(all).map(([name, approval]) => [name, nextFor(approval, later(10))])).toEqual([
      ["pending", "wait"],
      ["accepted", "run"],
      ["consumed", "done"],
      ["declined", "stop"],
      ["cancelled", "stop"],
      ["expired", "stop"],
      ["withdrawn", "stop"],
    ]);
    expect([
      nextFor(pending, later(300)),
      statusAt(pending, later(300)),
      nextFor(accepted, later(300)),
      isLapsed(accepted, later(300)),
    ]).toEqual(["stop", "expired", "stop", true]);
  });
});

import type { Service } from "../process";
import { type DecisionEvidence, signReceipt } from "../receipts/sign";
import type { RecordClaims } from "../records/claims";
import { isCsrfToken } from "../sessions/csrf";
import type { PersonSession } from "../sessions/session";
import { freshUntil } from "../sessions/step-up";
import type { Approval } from "./approval";
import { commitDecision, countWrongCode } from "./commit-decision";
import { type Choice, type DecisionForm, noteMaxCharacters } from "./decision-form";
import { judgeForm } from "./judge-form";
import { isMatchCode } from "./match-code";
import { type Opened, openForPerson } from "./open";
import { type PasskeyProof, provePasskey } from "./passkey-proof";
import { subjectsToDecideFor } from "./subject";
import { type Command, transition } from "./transitions";

/** Why nothing was decided; the page says each in words a person can act on. */
export type DecisionNotice =
  | "choose"
  | "view_changed"
  | "too_fast"
  | "code_missing"
  | "code_wrong"
  | "read_missing"
  | "passkey_missing"
  | "passkey_failed"
  | "note_too_long"
  | "note_unreadable"
  | "try_again";

export type DecisionResult =
  | { kind: "decided" }
  | { kind: "already_decided" }
  | { kind: "notice"; notice: DecisionNotice }
  | { kind: "step_up" }
  | { kind: "forbidden" }
  | { kind: "missing" };

/** An accept that comes sooner after the page was made than anybody can read it is not one. */
const readingTimeMs = 1_000;

/**
 * Makes the decision of the person of this session (I1). In this order: the CSRF token, the verified record, the subject (I2), the
 * state, the freshness of the sign-in, the view that was shown (I3), then for accept the reading time, the code or box, and the passkey. The
 * change, its receipt, audit event and outbox row commit together (I8), once (I4), by the clock read after the row lock (I6).
 */
export async function decide(
  service: Service,
  session: PersonSession,
  approvalId: string,
  form: DecisionForm,
): Promise<DecisionResult> {
  if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "decide", target: approvalId }, form.csrf))
    return { kind: "forbidden" };
  // An answer of a passkey counts once, so it is looked at once, however often the writing is tried.
  let proof: Promise<PasskeyProof | undefined> | undefined;
  const prove: Prove = (...of) => {
    proof ??= provePasskey(service, session, ...of);
    return proof;
  };
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const opened = await openForPerson(service, session, approvalId);
    if (!opened) return { kind: "missing" };
    const result = await decideOpened(service, session, opened, form, prove);
    if (result !== "again") return result;
  }
  return { kind: "notice", notice: "try_again" };
}

type Prove = (
  approvalId: string,
  record: RecordClaims,
  viewDigest: string,
  answer: string,
) => Promise<PasskeyProof | undefined>;

async function decideOpened(
  service: Service,
  session: PersonSession,
  opened: Opened,
  form: DecisionForm,
  prove: Prove,
): Promise<DecisionResult | "again"> {
  const { approval } = opened;
  const judged = judgeForm(service, session, opened, form);
  if (judged.kind === "ended")
    return isSameDecision(approval, form.choice) ? { kind: "decided" } : { kind: "already_decided" };
  if (judged.kind === "step_up") return judged;
  if (judged.kind === "view_changed") return { kind: "notice", notice: judged.kind };
  const { record, viewDigest } = judged;
  if (form.choice === undefined) return { kind: "notice", notice: "choose" };
  if ([...form.note].length > noteMaxCharacters) return { kind: "notice", notice: "note_too_long" };
  // PostgreSQL keeps every character but this one; nobody can type it.
  if (form.note.includes("\u0000")) return { kind: "notice", notice: "note_unreadable" };
  if (form.choice === "accept") {
    const notice = whyNotAccepted(service, opened, record, form);
    if (notice === "code_wrong")
      return (await countWrongCode(service, session, opened)) ? { kind: "notice", notice } : "again";
    if (notice) return { kind: "notice", notice };
  }
  const isProved = form.choice === "accept" && record.requirements.passkey === "required";
  const passkey = isProved ? await prove(approval.id, record, viewDigest, form.passkeyAnswer) : undefined;
  if (isProved && !passkey) return { kind: "notice", notice: "passkey_failed" };
  const evidence: DecisionEvidence = {
    authn: { iss: session.iss, sub: session.sub, via: opened.via },
    viewDigest,
    locale: form.locale,
    shownAt: new Date(form.renderedAt),
    authTime: session.authTime,
    amr: session.amr,
    ...(passkey ? { passkey } : {}),
  };
  return commit(service, session, opened, form.choice, form.note, evidence);
}

async function commit(
  service: Service,
  session: PersonSession,
  opened: Opened,
  choice: Choice,
  note: string,
  evidence: DecisionEvidence,
): Promise<DecisionResult | "again"> {
  const { approval, now, record } = opened;
  if (!record) return "again";
  const step = transition(approval, { ...commandFor(choice), ...(note === "" ? {} : { note }) }, now);
  if (!step.ok || step.next.status === "pending" || !("decidedAt" in step.next) || !step.next.decidedAt) return "again";
  const receipt = await signReceipt(service, step.next, step.next.decidedAt, evidence);
  const change = {
    from: approval,
    to: { ...step.next, receipt },
    event: step.event,
    validUntil: earlier(approval.expiresAt, freshUntil(session, record.requirements)),
    person: {
      sid: session.sid,
      userId: session.userId,
      right: { ...(opened.via === "self" ? session : approval.subject), isLink: opened.via === "admin_link" },
      credentialId: evidence.passkey?.credential_id,
    },
    actor: { kind: "person" as const, iss: session.iss, sub: session.sub, userId: session.userId },
    data: { via: opened.via, name: session.name },
  };
  const alsoTheirs = choice === "not_requested" ? await subjectsToDecideFor(service, session) : [];
  return (await commitDecision(service, change, choice, alsoTheirs)) ? { kind: "decided" } : "again";
}

const earlier = (a: Date, b: Date) => (a < b ? a : b);

function commandFor(choice: Choice): Extract<Command, { kind: "decide" }> {
  return choice === "not_requested"
    ? { kind: "decide", decision: "decline", reason: "not_requested" }
    : { kind: "decide", decision: choice };
}

function whyNotAccepted(
  service: Service,
  { approval, now }: Opened,
  record: RecordClaims,
  form: DecisionForm,
): DecisionNotice | undefined {
  if (now.getTime() - form.renderedAt < readingTimeMs) return "too_fast";
  const { matchCode, passkey } = record.requirements;
  if (matchCode && form.code === "") return "code_missing";
  if (matchCode && !isMatchCode(service.secrets, approval, form.code)) return "code_wrong";
  if (passkey === "required") return form.passkeyAnswer === "" ? "passkey_missing" : undefined;
  return matchCode || form.hasRead ? undefined : "read_missing";
}

/** Losers with the same decision get the stored result (I4). */
function isSameDecision(approval: Approval, choice: Choice | undefined): boolean {
  switch (approval.status) {
    case "accepted":
      return choice === "accept";
    case "declined":
      return choice === (approval.reason === "not_requested" ? "not_requested" : "decline");
    case "cancelled":
      return choice === "cancel";
    default:
      return false;
  }
}

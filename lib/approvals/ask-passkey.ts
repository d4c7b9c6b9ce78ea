import { randomBytes } from "node:crypto";
import { decisionChallenge } from "@countersign/mcp/decision-challenge";
import { issueChallenge } from "../passkeys/challenge";
import { readPasskeys } from "../passkeys/passkey";
import { relyingParty } from "../passkeys/relying-party";
import type { Service } from "../process";
import type { RecordClaims } from "../records/claims";
import { isCsrfToken } from "../sessions/csrf";
import type { PersonSession } from "../sessions/session";
import type { DecisionForm } from "./decision-form";
import { judgeForm } from "./judge-form";
import { openForPerson } from "./open";
import { decisionClaims, isUsable } from "./passkey-proof";

/** What the browser asks the person's passkey, in the form that WebAuthn's JSON has (level 3, section 5.5). */
export type PasskeyQuestion = {
  challenge: string;
  rpId: string;
  allowCredentials: { id: string; type: "public-key"; transports: string[] }[];
  userVerification: "required";
  /** Milliseconds. */
  timeout: number;
};

export type AskResult =
  | { kind: "question"; question: PasskeyQuestion }
  | { kind: "forbidden" | "missing" | "ended" | "step_up" | "view_changed" | "no_passkey" };

/** An answer counts for this long; the authenticator is told the same. */
const answerTimeoutMs = 120_000;

/**
 * Makes the question whose signed answer accepts this approval: single-use, for 120 s, for this session and the view that its page
 * showed. Nothing is decided by it. `no_passkey`: there is none of this identity that is older than the approval.
 */
export async function askPasskey(
  service: Service,
  session: PersonSession,
  approvalId: string,
  form: DecisionForm,
): Promise<AskResult> {
  if (!isCsrfToken(service.secrets, { sid: session.sid, purpose: "decide", target: approvalId }, form.csrf))
    return { kind: "forbidden" };
  const opened = await openForPerson(service, session, approvalId);
  if (!opened) return { kind: "missing" };
  const judged = judgeForm(service, session, opened, form);
  if (judged.kind !== "good") return judged;
  const { record, viewDigest } = judged;
  const allowed = await usablePasskeys(service, session, record);
  if (allowed.length === 0) return { kind: "no_passkey" };
  const nonce = randomBytes(32).toString("base64url");
  const challenge = decisionChallenge(decisionClaims(record, viewDigest, opened.now, nonce));
  const of = { purpose: "decide", sid: session.sid, approvalId, nonce, challenge, issuedAt: opened.now } as const;
  await issueChallenge(service.pool, of);
  return {
    kind: "question",
    question: {
      challenge,
      rpId: relyingParty(service.config).rpId,
      allowCredentials: allowed.map(({ credentialId, transports }) => ({
        id: credentialId,
        type: "public-key",
        transports,
      })),
      userVerification: "required",
      timeout: answerTimeoutMs,
    },
  };
}

/** The person's passkeys that may approve this. */
export async function usablePasskeys(service: Service, session: PersonSession, record: RecordClaims) {
  const passkeys = await readPasskeys(service.prisma, service.secrets, session);
  return passkeys.filter((passkey) => isUsable(passkey, session, record));
}

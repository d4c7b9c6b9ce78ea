import { randomBytes } from "node:crypto";
import { keysOf, signatureOf } from "../webhook/signature";
import type { FakeApproval } from "./approval";

export type WebhookForTest = {
  /** Default: a new one. */
  id?: string;
  /** Seconds since 1970; default now. */
  timestamp?: number;
  /** What is sent, byte for byte. */
  body: string | Uint8Array;
  /** `whsec_…`; several sign each. */
  secret: string | readonly string[];
};

/**
 * The headers under which `verifyWebhook` takes this body: for tests of a receiver.
 * @throws WebhookError `bad_secret`
 */
export function signWebhookForTest(webhook: WebhookForTest): Record<string, string> {
  const { id = newEventId(), timestamp = Math.floor(Date.now() / 1000), secret } = webhook;
  const parts = { id, timestamp: String(timestamp), body: Buffer.from(webhook.body) };
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": parts.timestamp,
    "webhook-signature": keysOf(secret)
      .map((key) => signatureOf(key, parts))
      .join(" "),
  };
}

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

function newEventId(): string {
  return `evt_${[...randomBytes(26)].map((byte) => ALPHABET[byte % 32]).join("")}`;
}

/**
 * The body of the newest event of an approval, as it stands.
 * @throws Error while it is pending, for that it was asked for is no event
 */
export function eventBodyOf(approval: FakeApproval, clientId: string): string {
  const {
    id,
    status,
    laterEvents = 0,
    action,
    actionDigest,
    decision,
    reason,
    consumedAt,
    outcome,
    receipt,
  } = approval;
  if (status === "pending") throw new Error(`The approval ${id} is pending: nothing has happened to it yet.`);
  const data = {
    clientId,
    approvalId: id,
    approvalSeq: 1 + laterEvents,
    tool: action.tool,
    actionDigest,
    status,
    decision,
    reason,
    consumedAt,
    outcome,
    receipt,
  };
  return JSON.stringify({ type: `approval.${lastOf(approval)}`, timestamp: new Date().toISOString(), data });
}

function lastOf({ status, consumerToken, outcome, lapsed }: FakeApproval): string {
  if (outcome !== undefined) return "outcome";
  if (consumerToken !== undefined) return "consumed";
  return lapsed ? "lapsed" : status;
}

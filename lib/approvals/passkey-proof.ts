import { decisionChallenge } from "@countersign/mcp/decision-challenge";
import type { PasskeyClaim } from "@countersign/mcp/passkey-claim";
import { findAssertionFault } from "@countersign/mcp/webauthn-assertion";
import { appendHourly } from "../audit/append-hourly";
import { takeChallenge } from "../passkeys/challenge";
import { type Passkey, readPasskey } from "../passkeys/passkey";
import { publicJwkOf } from "../passkeys/public-jwk";
import { relyingParty } from "../passkeys/relying-party";
import { type AnswerFault, findAnswerFault, parseAnswer } from "../passkeys/verify-answer";
import type { Service } from "../process";
import { rfc3339 } from "../receipts/sign";
import type { RecordClaims } from "../records/claims";
import type { PersonSession } from "../sessions/session";
import { clockToleranceSeconds } from "./insert";

/** The passkey's signature over a decision, as the receipt carries it. */
export type PasskeyProof = PasskeyClaim;

/**
 * Whether `answer` is the signature of a passkey of this very identity over exactly this accept of exactly this view (section 7); the
 * passkey is older than the approval, and its person was verified. The challenge is taken away before anything is judged, so no answer
 * counts twice. Undefined, and a security event, where it is not.
 */
export async function provePasskey(
  service: Service,
  session: PersonSession,
  approvalId: string,
  record: RecordClaims,
  viewDigest: string,
  answer: string,
): Promise<PasskeyProof | undefined> {
  const proof = await prove(service, session, approvalId, record, viewDigest, answer);
  if (typeof proof === "string")
    await appendHourly(service.pool, {
      type: "security.passkey_failed",
      approvalId,
      clientId: record.client_id,
      tool: record.action.tool,
      actor: { kind: "person", iss: session.iss, sub: session.sub, userId: session.userId },
      data: { fault: proof },
    });
  return typeof proof === "string" ? undefined : proof;
}

/** `not_asked`: no such question is open; `not_usable`: not a passkey of this identity that is older than the approval. */
type ProofFault = AnswerFault | "not_asked" | "not_usable";

async function prove(
  service: Service,
  session: PersonSession,
  approvalId: string,
  record: RecordClaims,
  viewDigest: string,
  answer: string,
): Promise<PasskeyProof | ProofFault> {
  const parsed = parseAnswer(answer);
  if (!parsed) return "malformed";
  const { challenge, response } = parsed;
  const taken = await takeChallenge(service.pool, { challenge, purpose: "decide", sid: session.sid, approvalId });
  if (!taken?.nonce) return "not_asked";
  const asked = decisionClaims(record, viewDigest, taken.issuedAt, taken.nonce);
  if (decisionChallenge(asked) !== challenge) return "not_asked";
  const passkey = await readPasskey(service.prisma, service.secrets, response.id);
  if (!passkey || !isUsable(passkey, session, record)) return "not_usable";
  const fault = await findAnswerFault(service, passkey, response, { challenge });
  if (fault) return fault;
  const { jwk, alg } = publicJwkOf(passkey.publicKey);
  const { rpId, origin } = relyingParty(service.config);
  const { clientDataJSON, authenticatorData, signature, userHandle } = response.response;
  const proof: PasskeyProof = {
    credential_id: passkey.credentialId,
    public_key: jwk,
    alg,
    created_at: rfc3339(passkey.createdAt),
    rp_id: rpId,
    origin,
    iat: asked.iat,
    nonce: asked.nonce,
    ...(userHandle === undefined ? {} : { user_handle: userHandle }),
    client_data_json: clientDataJSON,
    authenticator_data: authenticatorData,
    signature,
  };
  // The library reads signatures more loosely than those who verify the receipt: what they would refuse must not be decided by.
  return findAssertionFault(proof, challenge) ? "bad_assertion" : proof;
}

/** What is signed by an accept: computed from the verified record, never from what a row or a form says. */
export function decisionClaims(record: RecordClaims, viewDigest: string, askedAt: Date, nonce: string) {
  return {
    approvalId: record.jti,
    decision: "accept" as const,
    actionDigest: record.action_digest,
    viewDigest,
    subject: { iss: record.sub_id.iss, sub: record.sub_id.sub },
    iss: record.iss,
    clientId: record.client_id,
    iat: Math.floor(askedAt.getTime() / 1000),
    nonce,
  };
}

/**
 * A passkey of the identity that is signed in, registered before this was asked: passkeys are dated by the database, approvals by the
 * process, which may be up to `clockToleranceSeconds` ahead.
 */
export function isUsable(passkey: Passkey, session: PersonSession, record: RecordClaims): boolean {
  const isTheirs = passkey.userId === session.userId && passkey.iss === session.iss && passkey.sub === session.sub;
  return isTheirs && passkey.createdAt.getTime() < (record.iat - clockToleranceSeconds) * 1000;
}

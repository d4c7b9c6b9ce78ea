import { decisionChallenge } from "./decision-challenge";
import type { PasskeyClaim } from "./passkey-claim";
import { findPin, type PinnedCredential } from "./pinned-credential";
import type { ReceiptClaims } from "./receipt-claims";
import { type AssertionFault, findAssertionFault } from "./webauthn-assertion";

export type EvidenceExpectation = {
  passkey?: "required";
  credentials?: readonly PinnedCredential[];
  pinned?: "subject";
  origin?: string;
};

/** A passkey whose holder signed the decision. `pinned` says whose it is by the given list; `false`: none was given. */
export type VerifiedPasskey = { credentialId: string; pinned: false | "subject" | "authn" };

export type EvidenceRefusal = "missing_evidence" | "bad_evidence" | "unpinned_credential";

/** What is wrong with `bad_evidence`. */
export type EvidenceFault =
  | AssertionFault
  /** Only an accept, of a view that the receipt names, is signed. */
  | "not_an_accept"
  /** The credential was not registered before the approval was asked for, the page shown and the challenge made. */
  | "late_credential"
  /** Shown before it was asked for, or decided outside the challenge's lifetime. */
  | "wrong_time";

export type EvidenceVerdict =
  | { ok: true; passkey: VerifiedPasskey | undefined }
  | { ok: false; reason: "missing_evidence" | "unpinned_credential" }
  | { ok: false; reason: "bad_evidence"; fault: EvidenceFault };

/**
 * Verifies the passkey evidence of a receipt whose own signature is verified elsewhere: that the holder of the credential, known
 * to their device by PIN or body, signed exactly this accept (WebAuthn level 3, section 7.2, with every expected value computed
 * from the receipt's own claims).
 *
 * That signature covers `approval_id`, `decision`, `status`, `action_digest`, `view_digest`, `sub_id`, `iss`, `aud`, and of `passkey`
 * `alg`, `rp_id`, `origin`, `iat`, `nonce`, `client_data_json` and `authenticator_data`: with another of them it does not fit, even if
 * the receipt is signed anew with the service's key. (`public_key` and `signature` belong together; a twin that ECDSA allows for says the
 * same.) `decided_at` must be within the challenge's lifetime after the signed `iat`, and
 * `created_at` before it and before `asked_at`, where the receipt has that. Whoever has the service's key can put a passkey of their own in, with its own signature over claims
 * of their choice; only `credentials` refuses that. All other claims are the service's word. Never throws.
 */
export function verifyPasskeyEvidence(claims: ReceiptClaims, expected: EvidenceExpectation = {}): EvidenceVerdict {
  const { passkey } = claims;
  if (passkey === undefined) {
    const isMissing = expected.passkey === "required" && claims.decision === "accept";
    return isMissing ? { ok: false, reason: "missing_evidence" } : { ok: true, passkey: undefined };
  }
  const fault = findFault(claims, passkey, expected.origin);
  if (fault !== undefined) return { ok: false, reason: "bad_evidence", fault };
  const credentialId = passkey.credential_id;
  const { credentials, pinned: demanded } = expected;
  if (credentials === undefined && demanded === undefined) {
    return { ok: true, passkey: { credentialId, pinned: false } };
  }
  // Without a list nobody's passkey is known, so a demand for the subject's is met by none.
  const pinned = findPin(credentials ?? [], passkey, { subject: claims.sub_id, authn: claims.authn });
  if (pinned === undefined || (demanded !== undefined && demanded !== pinned)) {
    return { ok: false, reason: "unpinned_credential" };
  }
  return { ok: true, passkey: { credentialId, pinned } };
}

function findFault(
  claims: ReceiptClaims,
  passkey: PasskeyClaim,
  origin: string | undefined,
): EvidenceFault | undefined {
  const { decision, view_digest: viewDigest, sub_id: subject, approval_id: approvalId } = claims;
  if (decision !== "accept" || viewDigest === undefined) return "not_an_accept";
  if (origin !== undefined && origin !== passkey.origin) return "wrong_origin";
  const { iat, nonce } = passkey;
  const { iss, aud: clientId, action_digest: actionDigest } = claims;
  try {
    const signed = { approvalId, decision, actionDigest, viewDigest, subject, iss, clientId, iat, nonce };
    return findTimeFault(claims, passkey) ?? findAssertionFault(passkey, decisionChallenge(signed));
  } catch {
    // A claim that JSON cannot carry exactly was never signed.
    return "malformed";
  }
}

/** A challenge lives 120 s (contract section 7); the clocks of the processes and the database are a few seconds apart at most. */
const CHALLENGE_SECONDS = 120;
const SKEW_SECONDS = 30;

/** Whole seconds cannot tell what came first within one, so the credential must be of an earlier one than all that it answers. */
function findTimeFault(claims: ReceiptClaims, { created_at, iat }: PasskeyClaim): EvidenceFault | undefined {
  const createdAt = secondsOf(created_at);
  const [askedAt, shownAt, decidedAt] = [claims.asked_at, claims.shown_at, claims.decided_at].map(secondsOf);
  const isLate = [iat, askedAt, shownAt].some((at) => at !== undefined && createdAt >= at);
  if (isLate) return "late_credential";
  if (askedAt !== undefined && shownAt !== undefined && askedAt > shownAt + SKEW_SECONDS) return "wrong_time";
  if (decidedAt === undefined) return undefined;
  const age = decidedAt - iat;
  return age < -SKEW_SECONDS || age > CHALLENGE_SECONDS + SKEW_SECONDS ? "wrong_time" : undefined;
}

function secondsOf(instant: string): number;
function secondsOf(instant: string | undefined): number | undefined;
function secondsOf(instant: string | undefined): number | undefined {
  return instant === undefined ? undefined : Date.parse(instant) / 1000;
}

import { randomBytes } from "node:crypto";
import { decisionChallenge, type PinnedCredential } from "@countersign/mcp";
import type { GetOverrides, SoftwareAuthenticator } from "../../support/software-authenticator";

export const ISSUER = "https://countersign.example.com";
export const AUDIENCE = "cli_crm";
export const RP_ID = "example.com";
export const ORIGIN = "https://approve.example.com";

/** 2026-11-05T10:00:00Z: when the page was shown. The challenge came 10 s later and the decision 7 s after that. */
const shownAt = 1_793_872_800;

export const at = (seconds: number) => new Date((shownAt + seconds) * 1000).toISOString().replace(".000", "");

export type Claims = Record<string, unknown>;

/** The claims of an accept, with every member that a receipt can have but the evidence. */
export function acceptClaims(changed: Claims = {}): Claims {
  return {
    iss: ISSUER,
    aud: AUDIENCE,
    sub_id: { format: "iss_sub", iss: "https://as.example.com", sub: "alice" },
    authn: { iss: "https://idp.example.net", sub: "a-17", via: "admin_link" },
    jti: "rct_1",
    iat: shownAt + 17,
    approval_id: "apr_00000000000000000000000000",
    asked_at: at(-20),
    status: "accepted",
    decision: "accept",
    action_digest: `sha256:${"ab".repeat(32)}`,
    view_digest: `sha256:${"cd".repeat(32)}`,
    locale: "en",
    shown_at: at(0),
    decided_at: at(17),
    tool: "delete_project",
    caller: { iss: "https://as.example.com", sub: "alice", clientId: "chat-app" },
    auth_time: shownAt - 60,
    amr: ["hwk", "user"],
    act_by: at(317),
    policy_version: 3,
    ...changed,
  };
}

/** The challenge that a passkey signs for these claims. */
export function challengeFor(claims: Claims, iat: number, nonce: string): string {
  return decisionChallenge({
    approvalId: String(claims["approval_id"]),
    decision: "accept",
    actionDigest: String(claims["action_digest"]),
    viewDigest: String(claims["view_digest"]),
    subject: claims["sub_id"] as { iss: string; sub: string },
    iss: String(claims["iss"]),
    clientId: String(claims["aud"]),
    iat,
    nonce,
  });
}

/**
 * The claim `passkey` that an honest service makes for these claims, of an assertion with `overrides` over `signed` (what the person
 * really signed; the same where left out). `iat` is when the challenge was made.
 */
export function evidenceOf(
  authenticator: SoftwareAuthenticator,
  claims: Claims,
  overrides: GetOverrides & { signed?: Claims; iat?: number } = {},
): Claims {
  const nonce = randomBytes(16).toString("base64url");
  const { signed = claims, iat = shownAt + 10, ...said } = overrides;
  const { response } = authenticator.get(challengeFor(signed, iat, nonce), said);
  return {
    credential_id: authenticator.credentialId,
    public_key: authenticator.publicKey,
    alg: authenticator.alg,
    created_at: at(-3600),
    rp_id: RP_ID,
    origin: ORIGIN,
    iat,
    nonce,
    user_handle: Buffer.from("usr_alice").toString("base64url"),
    client_data_json: response.clientDataJSON,
    authenticator_data: response.authenticatorData,
    signature: response.signature,
  };
}

/** The entry of a list of passkeys that makes this one a person's. */
export function pinOf(authenticator: SoftwareAuthenticator, person: { iss: string; sub: string }): PinnedCredential {
  const publicKey = authenticator.publicKey as PinnedCredential["publicKey"];
  return { ...person, credentialId: authenticator.credentialId, publicKey };
}

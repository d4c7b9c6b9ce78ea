import type { RequestSource } from "../requests/source";

/**
 * Who did it (section 13). `service` acts on deadlines and policies. `from`, of an admin on a page, is kept in the event's `data`, where
 * sign-ins keep theirs, and not in its `actor`.
 */
export type AuditActor =
  | { kind: "person"; iss: string; sub: string; userId: string }
  | { kind: "client"; keyId: string }
  | { kind: "admin"; userId?: string; via: "cli" | "page"; from?: RequestSource }
  | { kind: "service" };

/** The approval's own events; those after `approval.minted` are also webhook events. */
export type ApprovalEventType =
  | "approval.minted"
  | "approval.accepted"
  | "approval.declined"
  | "approval.cancelled"
  | "approval.expired"
  | "approval.withdrawn"
  | "approval.lapsed"
  | "approval.consumed"
  | "approval.outcome"
  | "approval.receipt_refused";

export type SecurityEventType =
  | "security.wrong_person"
  | "security.match_failed"
  | "security.throttled"
  | "security.passkey_failed"
  | "security.client_reported";

export type AdminEventType =
  | "admin.client_added"
  | "admin.policy_changed"
  | "admin.client_frozen"
  | "admin.client_unfrozen"
  | "admin.alert_acknowledged"
  | "admin.key_created"
  | "admin.key_revoked"
  | "admin.user_added"
  | "admin.user_disabled"
  | "admin.user_enabled"
  | "admin.password_changed"
  | "admin.roles_changed"
  | "admin.identity_linked"
  | "admin.identity_unlinked"
  | "admin.sessions_ended"
  | "admin.signing_key_rotated"
  | "admin.signing_key_revoked"
  | "admin.secret_rotated"
  | "admin.webhook_added"
  | "admin.webhook_disabled"
  | "admin.webhook_enabled"
  | "admin.webhook_removed"
  | "admin.webhook_replayed"
  | "admin.webhook_secret_rotated"
  | "admin.webhook_tested";

export type PersonEventType =
  | "person.signed_in"
  | "person.signed_out"
  | "person.stepped_up"
  | "person.cooldown_lifted"
  | "person.freeze_lifted"
  | "person.session_ended"
  | "person.identity_linked"
  | "person.identity_unlinked"
  | "person.passkey_added"
  | "person.passkey_renamed"
  | "person.passkey_removed"
  | "person.audit_read";

export type AuditEventType = ApprovalEventType | SecurityEventType | AdminEventType | PersonEventType;

/** `data` holds ids, codes, argument names, address and user agent: never a value of an argument, nor a guessable digest of one (I9). */
export type AuditEventInput = {
  type: AuditEventType;
  actor: AuditActor;
  approvalId?: string;
  approvalSeq?: number;
  clientId?: string;
  tool?: string;
  decision?: string;
  reason?: string;
  metadata?: Record<string, string | number | boolean>;
  data?: Record<string, string | number | boolean | null | string[]>;
};

/** That an auditor read history: `what` is `list` or an approval's id. */
export function readEvent(session: { iss: string; sub: string; userId: string }, what: string): AuditEventInput {
  const { iss, sub, userId } = session;
  return { type: "person.audit_read", actor: { kind: "person", iss, sub, userId }, data: { what } };
}

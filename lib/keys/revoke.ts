import type pg from "pg";
import { stopWriters } from "../approvals/stop-writers";
import { withdrawSignedBy } from "../approvals/withdraw-signed-by";
import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { readClock } from "../database/clock";
import { transact } from "../database/transact";
import { Problem } from "../problem";
import type { Service } from "../process";
import { announceKeys } from "./announce";
import { createSigningKey } from "./create";
import { activeAt, signersOf } from "./rotate";
import { isAuthenticSigningKey, macOfSigningKey, type SigningKeyRow } from "./signing-key";
import { insertSigningKey, lockSigningKeys, updateSigningKey } from "./store";

export type RevokedKey = {
  kid: string;
  /** What the key signed from here on proves nothing. Whole seconds, as `iat` is. */
  revokedAt: Date;
  /** False where it was revoked before, from no later an instant on. */
  changed: boolean;
  /** The key that signs in its place, where it was the one that signed. */
  successor: string | undefined;
  /** Approvals that it had signed and that could still be decided or consumed. */
  withdrawn: string[];
};

/**
 * Revokes a signing key that was stolen, from `since` on (now, where left out): destroys its private part, publishes it no more, and withdraws
 * as `key_revoked` all that is live by it, so that when this returns nothing by it can be decided or consumed, in any process. Where it was
 * the key that signs, another one signs at once. Again on a revoked key it changes nothing, but an earlier `since` counts. Safe to repeat
 * where it failed half-way.
 * Errors: `not_found`; `invalid_request` for a `since` that is to come; `integrity_failed` where the row was not written with our secret;
 * `unavailable` where approvals stay locked for more than five seconds.
 */
export async function revokeSigningKey(
  service: Service,
  { kid, since }: { kid: string; since?: Date | undefined },
  actor: AuditActor,
): Promise<RevokedKey> {
  const revokedAt = await instantOf(service, since);
  const { successor, isRevoked } = await ensureSuccessor(service, kid, actor);
  // Most of it apart, so that the approvals are locked for a moment only.
  const before = isRevoked ? [] : await withdrawSignedBy(service, service.pool, kid);
  const { row, changed, after } = await transact(service.pool, async (db) => {
    await stopWriters(db);
    const { stored } = await lockOne(service, db, kid);
    if (stored.revokedAt && (since === undefined || stored.revokedAt <= revokedAt))
      return { row: stored, changed: false, after: [] };
    // What was minted or accepted since then, as long as the key verifies here.
    const rest = stored.revokedAt ? [] : await withdrawSignedBy(service, db, kid);
    const revoked = { ...stored, status: "revoked", privateJwe: null, revokedAt };
    await updateSigningKey(db, { ...revoked, mac: macOfSigningKey(service.secrets, revoked) });
    await appendAudit(db, {
      type: "admin.signing_key_revoked",
      actor,
      data: { kid, since: revokedAt.toISOString(), withdrawn: before.length + rest.length },
    });
    return { row: revoked, changed: true, after: rest };
  });
  await announceKeys(service);
  const withdrawn = [...before, ...after];
  for (const id of withdrawn) service.hub.announce(id);
  return { kid, revokedAt: row.revokedAt ?? revokedAt, changed, successor, withdrawn };
}

/** By the database's clock, cut to the second: `iat` is, and what was signed within that second is not told apart. */
async function instantOf(service: Service, since: Date | undefined): Promise<Date> {
  const now = await readClock(service.pool);
  if (since && since > now)
    throw new Problem("invalid_request", { errors: [{ pointer: "/since", message: "must not be in the future" }] });
  return new Date(Math.floor((since ?? now).getTime() / 1000) * 1000);
}

/** Publishes another key that signs at once, where this one is that which signs. */
async function ensureSuccessor(
  service: Service,
  kid: string,
  actor: AuditActor,
): Promise<{ successor: string | undefined; isRevoked: boolean }> {
  const made = await transact(service.pool, async (db) => {
    const { stored, others } = await lockOne(service, db, kid);
    // One whose private part does not open cannot take its place.
    const [signing] = activeAt(new Date(), [stored, ...(await signersOf(service.secrets, others))]);
    if (signing?.kid !== kid) return { stored };
    // Dated back, so that it signs in processes too whose clocks are behind.
    const from = new Date(Math.max(Date.now() - 5_000, stored.activeFrom.getTime() + 1));
    const next = await createSigningKey(service.secrets, { publishFrom: from, activeFrom: from });
    await insertSigningKey(db, next);
    await appendAudit(db, { type: "admin.signing_key_rotated", actor, data: { kid: next.kid, replaces: kid } });
    return { stored, next };
  });
  await (made.next ? announceKeys(service) : service.keys.refresh());
  const isRevoked = made.stored.revokedAt !== null;
  if (!isRevoked && service.keys.signer().kid === kid) throw new Problem("clock_skew");
  return { successor: made.next?.kid, isRevoked };
}

async function lockOne(
  service: Service,
  db: pg.PoolClient,
  kid: string,
): Promise<{ stored: SigningKeyRow; others: SigningKeyRow[] }> {
  const rows = await lockSigningKeys(db);
  const stored = rows.find((row) => row.kid === kid);
  if (!stored) throw new Problem("not_found", { detail: "There is no signing key with this id." });
  if (!isAuthenticSigningKey(service.secrets, stored))
    throw new Problem("integrity_failed", {
      detail: "The row of this signing key was not written with our secret; it is not in use and can be deleted.",
    });
  return { stored, others: rows.filter((row) => row !== stored && isAuthenticSigningKey(service.secrets, row)) };
}

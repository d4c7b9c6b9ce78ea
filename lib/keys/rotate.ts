import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import type { Service } from "../process";
import type { Secrets } from "../secrets/derive";
import { announceKeys } from "./announce";
import { createSigningKey } from "./create";
import { openPrivateKey } from "./private-part";
import { isAuthenticSigningKey, macOfSigningKey, publishAheadSeconds, type SigningKeyRow } from "./signing-key";
import { insertSigningKey, lockSigningKeys, updateSigningKey } from "./store";

/**
 * Publishes a new signing key that signs from ten minutes on, and retires keys that the one before it has replaced: their
 * private part is destroyed, their public part stays published so that old receipts verify. Safe to call twice. A row that was not
 * written with our secret is left as it is: it must not become one that was (I17). So is one whose private part does not open: it replaces
 * none.
 */
export async function rotateSigningKey(
  service: Service,
  actor: AuditActor,
): Promise<{ kid: string; activeFrom: Date; retired: string[] }> {
  const { secrets } = service;
  const now = new Date();
  const activeFrom = new Date(now.getTime() + publishAheadSeconds * 1000);
  const next = await createSigningKey(secrets, { publishFrom: now, activeFrom });
  const retired = await transact(service.pool, async (db) => {
    const rows = (await lockSigningKeys(db)).filter((row) => isAuthenticSigningKey(secrets, row));
    const replaced = (await signersOf(secrets, activeAt(now, rows))).slice(1);
    for (const row of replaced) {
      const changed = { ...row, status: "retired", privateJwe: null, retiredAt: now };
      await updateSigningKey(db, { ...changed, mac: macOfSigningKey(secrets, changed) });
    }
    await insertSigningKey(db, next);
    const kids = replaced.map((row) => row.kid);
    await appendAudit(db, { type: "admin.signing_key_rotated", actor, data: { kid: next.kid, retired: kids } });
    return kids;
  });
  await announceKeys(service);
  return { kid: next.kid, activeFrom, retired };
}

/** Those of these keys that can sign: their private part opens with our secret. */
export async function signersOf(secrets: Secrets, rows: SigningKeyRow[]): Promise<SigningKeyRow[]> {
  const opened = await Promise.all(rows.map((row) => openPrivateKey(secrets, row)));
  return rows.filter((_, i) => opened[i] !== undefined);
}

/** The keys that may sign at an instant, newest first: the first is the one that does. */
export function activeAt<Row extends Pick<SigningKeyRow, "status" | "activeFrom">>(at: Date, rows: Row[]): Row[] {
  return rows
    .filter((row) => row.status === "active" && row.activeFrom <= at)
    .sort((a, b) => b.activeFrom.getTime() - a.activeFrom.getTime());
}

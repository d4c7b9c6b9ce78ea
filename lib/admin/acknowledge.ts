import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { listAlerts } from "./alerts";

/**
 * Notes that an admin has seen an alert, so that it is shown no more; a later one of the same client is. `changed` is false where it was
 * not shown (any more).
 */
export async function acknowledgeAlert(
  service: Service,
  alert: { clientId: string; seq: string },
  actor: AuditActor,
): Promise<{ changed: boolean }> {
  return transact(service.pool, async (db) => {
    // Of two at once the second sees the first.
    await db.query(`SELECT 1 FROM "client" WHERE "id" = $1 FOR NO KEY UPDATE`, [alert.clientId]);
    const isShown = (await listAlerts(db)).some(
      ({ clientId, seq }) => clientId === alert.clientId && seq === alert.seq,
    );
    if (isShown)
      await appendAudit(db, {
        type: "admin.alert_acknowledged",
        clientId: alert.clientId,
        actor,
        data: { alert: alert.seq },
      });
    return { changed: isShown };
  });
}

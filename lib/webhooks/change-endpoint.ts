import type pg from "pg";
import { appendAudit } from "../audit/append";
import type { AdminEventType, AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import { Problem } from "../problem";
import type { Service } from "../process";

export type EndpointRow = { endpointId: string; clientId: string; url: string; disabledAt: Date | null };

/**
 * Changes an endpoint under its lock, with an audit event where something changed. `change` returns what the event tells beside the
 * endpoint's id, or undefined where all was so before. Errors: `not_found`.
 */
export async function changeEndpoint(
  service: Service,
  endpointId: string,
  act: { type: AdminEventType; actor: AuditActor },
  change: (db: pg.PoolClient, row: EndpointRow) => Promise<Record<string, string | number> | undefined>,
): Promise<{ endpointId: string; changed: boolean }> {
  return transact(service.pool, async (db) => {
    const row = await lockEndpoint(db, endpointId);
    if (!row) throw new Problem("not_found", { detail: "There is no such endpoint." });
    const told = await change(db, row);
    if (told)
      await appendAudit(db, { ...act, clientId: row.clientId, data: { endpointId, host: hostOf(row.url), ...told } });
    return { endpointId, changed: told !== undefined };
  });
}

async function lockEndpoint(db: pg.PoolClient, endpointId: string): Promise<EndpointRow | undefined> {
  // PostgreSQL cannot be asked for it.
  if (endpointId.includes("\u0000")) return undefined;
  const { rows } = await db.query<EndpointRow>(
    `SELECT "id" AS "endpointId", "client_id" AS "clientId", "url", "disabled_at" AS "disabledAt"
     FROM "webhook_endpoint" WHERE "id" = $1 FOR UPDATE`,
    [endpointId],
  );
  return rows[0];
}

/** A path may hold a token of its own, which is nothing for a history. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

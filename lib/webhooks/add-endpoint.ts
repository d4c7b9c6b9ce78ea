import { appendAudit } from "../audit/append";
import type { AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import { newId } from "../ids/new-id";
import { judgeOutbound } from "../outbound/judge";
import { type FieldError, Problem } from "../problem";
import type { Service } from "../process";
import { sealEndpoint } from "./endpoint";
import { eventTypes } from "./event";
import { newWebhookSecret } from "./sign";

/** Endpoints of one client. */
const endpointsMax = 20;
const urlMaxLength = 2_000;

export type NewEndpoint = { clientId: string; url: string; events: string[] };

/**
 * Registers where a client's events go from now on. The secret is told this once. `events` names some of `eventTypes`; empty: all.
 * Errors: `invalid_request` naming the field, also where the URL may not be called (the error names the setting that allows it);
 * `not_found` for an unknown client.
 */
export async function addEndpoint(
  service: Service,
  endpoint: NewEndpoint,
  actor: AuditActor,
): Promise<{ endpointId: string; secret: string }> {
  const events = [...new Set(endpoint.events)];
  const url = readUrl(endpoint.url);
  const faults = [...eventFaults(events), ...urlFaults(endpoint.url, url)];
  const refusal = url && faults.length === 0 ? await judgeOutbound(service.config.outbound, url) : undefined;
  if (refusal !== undefined) faults.push({ pointer: "/url", message: refusal });
  if (!url || faults.length > 0) throw new Problem("invalid_request", { errors: faults });
  const { clientId } = endpoint;
  const endpointId = newId("whe");
  const secret = newWebhookSecret();
  const secretJwe = await sealEndpoint(service.secrets, { endpointId, clientId, url, secret });
  await transact(service.pool, async (db) => {
    const { rowCount } = await db.query(`SELECT 1 FROM "client" WHERE "id" = $1 FOR NO KEY UPDATE`, [clientId]);
    if (rowCount === 0) throw new Problem("not_found", { detail: "There is no such client." });
    const { rows } = await db.query<{ count: number }>(
      `SELECT count(*)::int AS "count" FROM "webhook_endpoint" WHERE "client_id" = $1`,
      [clientId],
    );
    if ((rows[0]?.count ?? 0) >= endpointsMax)
      throw new Problem("invalid_request", { detail: `A client may have ${endpointsMax} endpoints.` });
    await db.query(
      `INSERT INTO "webhook_endpoint" ("id", "client_id", "url", "events", "secret_jwe", "created_at")
       VALUES ($1, $2, $3, $4, $5, clock_timestamp())`,
      [endpointId, clientId, url, events, secretJwe],
    );
    const data = { endpointId, host: new URL(url).host, events };
    await appendAudit(db, { type: "admin.webhook_added", clientId, actor, data });
  });
  return { endpointId, secret };
}

function readUrl(text: string): string | undefined {
  return text.length <= urlMaxLength && URL.canParse(text) ? new URL(text).href : undefined;
}

function urlFaults(text: string, url: string | undefined): FieldError[] {
  if (url === undefined) return [{ pointer: "/url", message: `must be a URL of ${urlMaxLength} characters or less` }];
  const { username, password, hash } = new URL(url);
  const faults: FieldError[] = [];
  if (username || password) faults.push({ pointer: "/url", message: "must hold no user name or password" });
  if (hash || text.includes("#")) faults.push({ pointer: "/url", message: "must hold no fragment" });
  return faults;
}

function eventFaults(events: string[]): FieldError[] {
  const known: readonly string[] = eventTypes;
  return events.some((type) => !known.includes(type))
    ? [{ pointer: "/events", message: `must be among ${eventTypes.join(", ")}` }]
    : [];
}

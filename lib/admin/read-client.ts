import { type ListedClient, listClients } from "../clients/list";
import { listPersonFreezes, type PersonFreeze } from "../clients/list-freezes";
import { readClock } from "../database/clock";
import { openCursor, sealCursor } from "../database/cursor";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { isAdmin } from "./act";
import { type Alert, listAlerts } from "./alerts";
import { listSecurityEvents, type SecurityEvent } from "./security-events";

export type AdminClient = {
  now: Date;
  client: ListedClient;
  /** One page of them, the newest first. */
  freezes: PersonFreeze[];
  nextCursor: string | undefined;
  alert: Alert | undefined;
  events: SecurityEvent[];
};

const pageSize = 50;

/** One client with what is wrong about it, for an admin; undefined for everybody else and for what does not exist. */
export async function readClientForAdmin(
  service: Service,
  session: PersonSession,
  clientId: string,
  cursor?: string,
): Promise<AdminClient | undefined> {
  if (!isAdmin(session)) return undefined;
  const client = (await listClients(service, { clientId }))[0];
  if (!client) return undefined;
  const [kind, createdAt, freezeId] = cursor ? (openCursor(service.secrets, session.userId, cursor) ?? []) : [];
  const after = kind === "freezes" && createdAt && freezeId ? { after: { createdAt, freezeId } } : {};
  const [now, listed, alerts, events] = await Promise.all([
    readClock(service.pool),
    listPersonFreezes(service.pool, { clientId, ...after, limit: pageSize + 1 }),
    listAlerts(service.pool),
    listSecurityEvents(service.pool, clientId),
  ]);
  const freezes = listed.slice(0, pageSize);
  const last = listed.length > pageSize ? freezes.at(-1) : undefined;
  return {
    now,
    client,
    freezes,
    nextCursor:
      last && sealCursor(service.secrets, session.userId, ["freezes", last.createdAt.toISOString(), last.freezeId]),
    alert: alerts.find((alert) => alert.clientId === clientId),
    events,
  };
}

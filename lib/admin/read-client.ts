import { type ListedClient, listClients } from "../clients/list";
import { listPersonFreezes, type PersonFreeze } from "../clients/list-freezes";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { isAdmin } from "./act";
import { type Alert, listAlerts } from "./alerts";
import { listSecurityEvents, type SecurityEvent } from "./security-events";

export type AdminClient = {
  now: Date;
  client: ListedClient;
  freezes: PersonFreeze[];
  alert: Alert | undefined;
  events: SecurityEvent[];
};

/** One client with what is wrong about it, for an admin; undefined for everybody else and for what does not exist. */
export async function readClientForAdmin(
  service: Service,
  session: PersonSession,
  clientId: string,
): Promise<AdminClient | undefined> {
  if (!isAdmin(session)) return undefined;
  const client = (await listClients(service)).find((listed) => listed.clientId === clientId);
  if (!client) return undefined;
  const [now, freezes, alerts, events] = await Promise.all([
    readClock(service.pool),
    listPersonFreezes(service.pool, { clientId }),
    listAlerts(service.pool),
    listSecurityEvents(service.pool, clientId),
  ]);
  return { now, client, freezes, alert: alerts.find((alert) => alert.clientId === clientId), events };
}

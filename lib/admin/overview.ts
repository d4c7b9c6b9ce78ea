import { type ListedClient, listClients } from "../clients/list";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { type ListedEndpoint, listEndpoints } from "../webhooks/list-endpoints";
import { isAdmin } from "./act";
import { type Alert, listAlerts } from "./alerts";

export type Overview = {
  now: Date;
  alerts: Alert[];
  clients: ListedClient[];
  people: { total: number; disabled: number };
  endpoints: ListedEndpoint[];
};

/** What an admin looks at first; undefined for everybody else. */
export async function readOverview(service: Service, session: PersonSession): Promise<Overview | undefined> {
  if (!isAdmin(session)) return undefined;
  const [now, alerts, clients, total, disabled, endpoints] = await Promise.all([
    readClock(service.pool),
    listAlerts(service.pool),
    listClients(service),
    service.prisma.user.count(),
    service.prisma.user.count({ where: { disabledAt: { not: null } } }),
    listEndpoints(service.pool),
  ]);
  return { now, alerts, clients, people: { total, disabled }, endpoints };
}

import { readClock } from "../database/clock";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { isEndpointId } from "../webhooks/endpoint";
import { type DeliveryStatus, type ListedDelivery, listDeliveries } from "../webhooks/list-deliveries";
import { type ListedEndpoint, listEndpoints } from "../webhooks/list-endpoints";
import { isDeliveryId } from "../webhooks/replay";
import { isAdmin } from "./act";

/** Every endpoint, for an admin; undefined for everybody else. */
export async function readEndpointsForAdmin(
  service: Service,
  session: PersonSession,
): Promise<ListedEndpoint[] | undefined> {
  return isAdmin(session) ? listEndpoints(service.pool) : undefined;
}

export type AdminEndpoint = {
  now: Date;
  endpoint: ListedEndpoint;
  /** One page of them, the newest first. */
  deliveries: ListedDelivery[];
  /** What the next page begins before. */
  nextBefore: string | undefined;
};

const pageSize = 30;

/** One endpoint and what was sent to it, for an admin; undefined for everybody else and for what does not exist. */
export async function readEndpointForAdmin(
  service: Service,
  session: PersonSession,
  endpointId: string,
  filter: { status?: string | undefined; before?: string | undefined },
): Promise<AdminEndpoint | undefined> {
  if (!isAdmin(session) || !isEndpointId(endpointId)) return undefined;
  const endpoint = (await listEndpoints(service.pool, { endpointId }))[0];
  if (!endpoint) return undefined;
  const status = deliveryStatuses.find((each) => each === filter.status);
  const before = filter.before !== undefined && isDeliveryId(filter.before) ? filter.before : undefined;
  const [now, listed] = await Promise.all([
    readClock(service.pool),
    listDeliveries(service.pool, {
      endpointId,
      limit: pageSize + 1,
      ...(status ? { status } : {}),
      ...(before ? { before } : {}),
    }),
  ]);
  const deliveries = listed.slice(0, pageSize);
  return {
    now,
    endpoint,
    deliveries,
    nextBefore: listed.length > pageSize ? deliveries.at(-1)?.deliveryId : undefined,
  };
}

/** What a list of deliveries can be narrowed to. */
export const deliveryStatuses = ["pending", "delivered", "dead"] as const satisfies readonly DeliveryStatus[];

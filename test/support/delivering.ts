import { parseOutboundAllow } from "@/lib/outbound/policy";
import type { Service } from "@/lib/process";
import { type AttemptResult, attemptDelivery } from "@/lib/webhooks/attempt";
import { claimDeliveries } from "@/lib/webhooks/claim";
import { dispatchEvents } from "@/lib/webhooks/dispatch";

/** What a deployment sets so that receivers on this machine may be called. */
export const loopbackAllowed = { outbound: parseOutboundAllow("127.0.0.1").policy };

/** What the worker does until nothing is due: hands out what is new and sends it, each once. */
export async function deliverDue(service: Service): Promise<AttemptResult[]> {
  const results: AttemptResult[] = [];
  while ((await dispatchEvents(service.pool)).length > 0);
  for (;;) {
    const claimed = await claimDeliveries(service.pool, new Map());
    if (claimed.length === 0) return results;
    results.push(...(await Promise.all(claimed.map((delivery) => attemptDelivery(service, delivery)))));
  }
}

/** As if the time of the next attempt had come, for every delivery that waits. */
export async function makeDue(service: Service): Promise<void> {
  await service.pool.query(`UPDATE "webhook_delivery" SET "next_at" = clock_timestamp() WHERE "status" = 'pending'`);
}

import { isConnectionLoss } from "../problem";
import type { Service } from "../process";
import { attemptDelivery } from "./attempt";
import { type ClaimedDelivery, claimDeliveries } from "./claim";
import { dispatchEvents } from "./dispatch";

/**
 * Hands out what is new in the outbox and sends what is due, when the bell rings and each second. Any number of processes may do so over
 * one database. `stop` takes nothing new and waits for what is being sent, at most as long as an attempt may take.
 */
export function startDelivering(service: Service, periodMs = 1_000): { stop(): Promise<void> } {
  const busy = new Map<string, number>();
  const sending = new Set<Promise<void>>();
  let isStopped = false;
  let isRunning = false;
  let isAskedAgain = false;

  const round = async () => {
    if (isStopped) return;
    isAskedAgain = true;
    if (isRunning) return;
    isRunning = true;
    try {
      while (isAskedAgain && !isStopped) {
        isAskedAgain = false;
        const dispatched = await dispatchEvents(service.pool);
        for (const { type, count } of dispatched) service.metrics.countEvents(type, count);
        const claimed = isStopped ? [] : await claimDeliveries(service.pool, busy);
        for (const delivery of claimed) start(delivery);
        if (dispatched.length > 0 || claimed.length > 0) isAskedAgain = true;
      }
    } catch (error) {
      warn(error, "deliveries could not be taken; tried again in a second");
    } finally {
      isRunning = false;
    }
  };

  const start = (delivery: ClaimedDelivery) => {
    const { endpointId } = delivery.endpoint;
    busy.set(endpointId, (busy.get(endpointId) ?? 0) + 1);
    const sent = attemptDelivery(service, delivery)
      .then(
        () => {},
        (error: unknown) =>
          warn(error, "an attempt could not be made or written down; it is made again when its lease ends"),
      )
      .finally(() => {
        sending.delete(sent);
        const left = (busy.get(endpointId) ?? 1) - 1;
        if (left === 0) busy.delete(endpointId);
        else busy.set(endpointId, left);
        void round();
      });
    sending.add(sent);
  };

  const warn = (error: unknown, message: string) =>
    service.log[isConnectionLoss(error) ? "warn" : "error"]({ reason: (error as Error).message }, message);

  const silence = service.outbox.onRing(() => void round());
  const timer = setInterval(() => void round(), periodMs);
  void round();
  return {
    stop: async () => {
      isStopped = true;
      silence();
      clearInterval(timer);
      await Promise.all(sending);
    },
  };
}

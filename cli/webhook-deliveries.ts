import { type Command, Option } from "commander";
import type { AttemptResult } from "@/lib/webhooks/attempt";
import { type DeliveryStatus, type ListedDelivery, listDeliveries } from "@/lib/webhooks/list-deliveries";
import { replayDelivery, replayRange } from "@/lib/webhooks/replay";
import { sendTestEvent } from "@/lib/webhooks/send-test-event";
import { readInstant } from "./instant";
import { CommandError } from "./output";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign webhooks test|deliveries|replay`: what was sent, and sending it again. */
export function addDeliveryCommands(webhooks: Command, run: Run): void {
  webhooks
    .command("test")
    .description("send a test event to an endpoint now, and say what it answers; exits with 1 where it did not arrive")
    .argument("<endpoint>", "its id (whe_…)")
    .action((endpointId: string) => run(() => test(endpointId)));

  webhooks
    .command("deliveries")
    .description("what was sent to an endpoint, the newest first")
    .argument("<endpoint>", "its id (whe_…)")
    .addOption(new Option("--status <status>", "only these").choices(["pending", "delivered", "dead"]))
    .option("--before <delivery>", "older ones than this: the last number of the list before")
    .action((endpointId: string, { status, before }: { status?: DeliveryStatus; before?: string }) =>
      run(() => list(endpointId, status, before)),
    );

  webhooks
    .command("replay")
    .description("send a delivery again, or what an endpoint has missed in a range of time")
    .argument("[delivery]", "its number; left out for a range")
    .option("--endpoint <id>", "of a range: whose (whe_…)")
    .option("--since <instant>", "of a range: the first instant that is in it")
    .option("--until <instant>", "of a range: the first that is not; now where left out")
    .option("--all", "of a range: also what has arrived")
    .action((deliveryId: string | undefined, range: RangeOptions) => run(() => replay(deliveryId, range)));
}

type RangeOptions = { endpoint?: string; since?: string; until?: string; all?: boolean };

async function test(endpointId: string) {
  const { deliveryId, result } = await withService((service) => sendTestEvent(service, endpointId, actor));
  const isDelivered = result.kind === "delivered";
  return {
    json: { endpointId, deliveryId, result },
    lines: [isDelivered ? `It arrived: ${answerOf(result)}.` : `It did not arrive: ${answerOf(result)}.`],
    ...(isDelivered ? {} : { exitCode: 1 }),
  };
}

async function list(endpointId: string, status: DeliveryStatus | undefined, before: string | undefined) {
  if (before !== undefined && !/^\d{1,18}$/.test(before))
    throw new CommandError("bad_delivery", "--before must be the number of a delivery.");
  const of = { endpointId, limit: 50, ...(status ? { status } : {}), ...(before ? { before } : {}) };
  const deliveries = await withService((service) => listDeliveries(service.pool, of));
  return { json: { deliveries }, lines: deliveries.length === 0 ? ["No deliveries."] : deliveries.map(deliveryLine) };
}

async function replay(deliveryId: string | undefined, { endpoint, since, until, all = false }: RangeOptions) {
  if (deliveryId !== undefined) {
    const replayed = await withService((service) => replayDelivery(service, { deliveryId }, actor));
    return { json: replayed, lines: [`${deliveryId} is sent again.`] };
  }
  if (endpoint === undefined || since === undefined)
    throw new CommandError("usage", "Name a delivery, or a range with --endpoint and --since.");
  const range = {
    since: readInstant("--since", since),
    until: until === undefined ? new Date() : readInstant("--until", until),
    isAll: all,
  };
  const replayed = await withService((service) => replayRange(service, endpoint, range, actor));
  return { json: replayed, lines: [`${replayed.replayed} are sent again.`] };
}

function answerOf(result: AttemptResult): string {
  return "statusCode" in result ? `HTTP status ${result.statusCode}` : result.error;
}

function deliveryLine(delivery: ListedDelivery): string {
  const { deliveryId, eventId, type, approvalId, at, status, attempts, nextAt, statusCode, error, latencyMs } =
    delivery;
  const last = statusCode === null ? error : `HTTP ${statusCode}`;
  const answer = last === null ? "" : `  ${last} after ${latencyMs} ms`;
  const next = nextAt === null ? "" : `, next ${nextAt.toISOString()}`;
  return `${deliveryId}  ${eventId}  ${type}  ${approvalId ?? "-"}  ${at.toISOString()}  ${status}, ${attempts} attempts${next}${answer}`;
}

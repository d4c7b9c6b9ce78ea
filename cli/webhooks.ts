import { type Command, Option } from "commander";
import { addEndpoint } from "@/lib/webhooks/add-endpoint";
import { disableEndpoint, enableEndpoint } from "@/lib/webhooks/disable-endpoint";
import { eventTypes } from "@/lib/webhooks/event";
import { type ListedEndpoint, listEndpoints } from "@/lib/webhooks/list-endpoints";
import { removeEndpoint } from "@/lib/webhooks/remove-endpoint";
import { rotateWebhookSecret } from "@/lib/webhooks/rotate-secret";
import type { Run } from "./run";
import { actor, withService } from "./service";
import { addDeliveryCommands } from "./webhook-deliveries";

/** `countersign webhooks …`: where the events of MCP servers go. */
export function addWebhookCommands(program: Command, run: Run): void {
  const webhooks = program.command("webhooks").description("where the events of MCP servers go, and what arrived");
  addAddCommand(webhooks, run);
  addChangeCommands(webhooks, run);
  addDeliveryCommands(webhooks, run);

  webhooks
    .command("list")
    .description("every endpoint, without its secret")
    .option("--client <id>", "those of one MCP server")
    .action(({ client }: { client?: string }) =>
      run(async () => {
        const filter = client === undefined ? {} : { clientId: client };
        const endpoints = await withService((service) => listEndpoints(service.pool, filter));
        return { json: { endpoints }, lines: endpoints.length === 0 ? ["No endpoints."] : endpoints.map(endpointLine) };
      }),
    );
}

function addAddCommand(webhooks: Command, run: Run): void {
  webhooks
    .command("add")
    .description("send the events of an MCP server to a URL; the secret that signs them is printed once")
    .requiredOption("--client <id>", "whose events (cli_…)")
    .requiredOption("--url <url>", "https; anything that is not public must be named in OUTBOUND_ALLOW")
    .addOption(new Option("--event <type...>", "which events; all where left out").choices(eventTypes))
    .action(({ client, url, event = [] }: { client: string; url: string; event?: string[] }) =>
      run(async () => {
        const wanted = { clientId: client, url, events: event };
        const added = await withService((service) => addEndpoint(service, wanted, actor));
        return {
          json: added,
          lines: [`Endpoint ${added.endpointId} of ${client}. Its secret is shown this once:`, added.secret],
        };
      }),
    );
}

function addChangeCommands(webhooks: Command, run: Run): void {
  webhooks
    .command("rotate-secret")
    .description("give an endpoint a new secret, printed once; both sign until the overlap is over")
    .argument("<endpoint>", "its id (whe_…)")
    .option("--now", "let the old secret sign nothing any more: where it has leaked")
    .action((endpointId: string, { now = false }: { now?: boolean }) =>
      run(async () => {
        const rotated = await withService((service) =>
          now ? rotateWebhookSecret(service, endpointId, actor, 0) : rotateWebhookSecret(service, endpointId, actor),
        );
        const words = now ? "the old one signs nothing any more" : "the old one signs beside it for 24 hours";
        return {
          json: rotated,
          lines: [`New secret of ${endpointId}; ${words}. It is shown this once:`, rotated.secret],
        };
      }),
    );
  const verbs = [
    [
      "disable",
      "send nothing to an endpoint any more; what waits becomes dead letters",
      disableEndpoint,
      "is disabled",
    ],
    ["enable", "send to an endpoint again, from now on; replay what it has missed", enableEndpoint, "is enabled"],
    ["remove", "forget an endpoint with its deliveries", removeEndpoint, "is removed"],
  ] as const;
  for (const [name, description, verb, done] of verbs)
    webhooks
      .command(name)
      .description(description)
      .argument("<endpoint>", "its id (whe_…)")
      .action((endpointId: string) =>
        run(async () => {
          const result = await withService((service) => verb(service, endpointId, actor));
          return { json: result, lines: [`${endpointId} ${result.changed ? done : `was ${name}d before`}.`] };
        }),
      );
}

function endpointLine(endpoint: ListedEndpoint): string {
  const { endpointId, clientName, clientId, url, events, disabledAt, disabledReason, failingSince, pending, dead } =
    endpoint;
  const state = disabledAt
    ? `disabled (${disabledReason}) since ${disabledAt.toISOString()}`
    : failingSince
      ? `failing since ${failingSince.toISOString()}`
      : "in order";
  const wanted = events.length === 0 ? "every event" : events.join(" ");
  return `${endpointId}  ${clientName} (${clientId})  ${url}  ${wanted}  ${state}  ${pending} waiting, ${dead} dead`;
}

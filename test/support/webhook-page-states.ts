import { newId } from "@/lib/ids/new-id";
import type { Service } from "@/lib/process";
import { sealEndpoint } from "@/lib/webhooks/endpoint";
import { newWebhookSecret } from "@/lib/webhooks/sign";
import { addPerson, addTestClient, mintApproval, signIn } from "./actors";
import { decideAs } from "./deciding";
import type { PageState } from "./page-states";

type Cookies = PageState["cookies"];

/** Every state of the pages about webhooks: nothing is called, what came of earlier deliveries is written down. */
export async function seedWebhookPages(service: Service, cookies: Cookies, stale: Cookies): Promise<PageState[]> {
  const client = await addTestClient(service, { maxPendingPerSubject: 50 });
  const endpoints = {
    arriving: await seedEndpoint(service, client.clientId, "https://crm.example.com/hooks/countersign", []),
    failing: await seedEndpoint(
      service,
      client.clientId,
      "https://hooks.example.net:8443/a/rather/long/path/that/has/to/be/broken?tenant=42",
      ["approval.accepted", "approval.declined"],
    ),
    gone: await seedEndpoint(service, client.clientId, "https://old.example.com/", []),
  };
  const person = await addPerson(service, "Nora");
  const { session } = await signIn(service, person);
  for (const choice of ["accept", "decline", "cancel"] as const)
    await decideAs(
      service,
      session,
      (await mintApproval(client, person, { action: { tool: choice, arguments: {} } })).id,
      choice,
    );
  await seedDeliveries(service, endpoints.arriving, "delivered", 1, [204, null]);
  await seedDeliveries(service, endpoints.failing, "pending", 4, [null, "timeout"]);
  await seedDeliveries(service, endpoints.gone, "dead", 2, [410, null]);
  await service.pool.query(
    `UPDATE "webhook_endpoint" SET "failing_since" = clock_timestamp() - INTERVAL '5 hours', "previous_secret_jwe" = "secret_jwe",
       "previous_until" = clock_timestamp() + INTERVAL '20 hours' WHERE "id" = $1`,
    [endpoints.failing],
  );
  await service.pool.query(
    `UPDATE "webhook_endpoint" SET "disabled_at" = clock_timestamp(), "disabled_reason" = 'gone' WHERE "id" = $1`,
    [endpoints.gone],
  );
  const page = (endpointId: string) => `/admin/webhooks/${endpointId}`;
  return [
    { name: "admin-webhooks", path: "/admin/webhooks", cookies },
    { name: "admin-webhook", path: page(endpoints.arriving), cookies },
    { name: "admin-webhook-failing", path: page(endpoints.failing), cookies },
    { name: "admin-webhook-gone", path: `${page(endpoints.gone)}?status=dead`, cookies },
    { name: "admin-webhook-stale", path: page(endpoints.arriving), cookies: stale },
  ];
}

async function seedEndpoint(service: Service, clientId: string, url: string, events: string[]): Promise<string> {
  const endpointId = newId("whe");
  const secretJwe = await sealEndpoint(service.secrets, { endpointId, clientId, url, secret: newWebhookSecret() });
  await service.prisma.webhookEndpoint.create({ data: { id: endpointId, clientId, url, events, secretJwe } });
  return endpointId;
}

/** Of every event of the endpoint's client; those that wait are due tomorrow, so that no worker sends them meanwhile. */
async function seedDeliveries(
  service: Service,
  endpointId: string,
  status: "pending" | "delivered" | "dead",
  attempts: number,
  [statusCode, error]: [number | null, string | null],
): Promise<void> {
  await service.pool.query(
    `WITH event AS (UPDATE "outbox" o SET "dispatched_at" = clock_timestamp() FROM "webhook_endpoint" e
       WHERE e."id" = $1 AND o."client_id" = e."client_id" RETURNING o."id"),
     delivery AS (INSERT INTO "webhook_delivery" AS d ("endpoint_id", "outbox_id", "status", "attempts", "next_at", "created_at", "ended_at")
       SELECT $1, "id", $2, $3, clock_timestamp() + INTERVAL '1 day', clock_timestamp(), CASE WHEN $2 <> 'pending' THEN clock_timestamp() END FROM event
       ON CONFLICT ("outbox_id", "endpoint_id") DO UPDATE SET "status" = $2, "attempts" = $3, "lease" = NULL,
         "next_at" = excluded."next_at", "ended_at" = excluded."ended_at" RETURNING "id")
     INSERT INTO "webhook_attempt" ("delivery_id", "at", "status_code", "error", "latency_ms")
     SELECT "id", clock_timestamp(), $4, $5, 143 FROM delivery`,
    [endpointId, status, attempts, statusCode, error],
  );
}

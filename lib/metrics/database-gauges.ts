import type pg from "pg";
import { Gauge, type Registry } from "prom-client";

/** Several scrapes of one moment read once. */
const rememberMs = 5_000;
const queryTimeoutMs = 2_000;

/**
 * Gauges of what stands in the database, the same in every process: read by one query when somebody scrapes, at most each 5 s and for
 * 2 s. Where it cannot be read the scrape answers all the same, with `countersign_database_up` 0 and none of the others.
 */
export function addDatabaseGauges(registry: Registry, pool: pg.Pool): void {
  let read: { at: number; row: Promise<GaugeRow | undefined> } | undefined;
  const rowNow = () => {
    if (!read || performance.now() - read.at > rememberMs) read = { at: performance.now(), row: readRow(pool) };
    return read.row;
  };
  new Gauge({
    name: "countersign_database_up",
    help: "1 where the database answered this scrape",
    registers: [registry],
    async collect() {
      this.set((await rowNow()) ? 1 : 0);
    },
  });
  for (const [column, name, help] of gauges)
    new Gauge({
      name,
      help,
      registers: [registry],
      async collect() {
        const row = await rowNow();
        this.reset();
        if (row) this.set(row[column]);
        else this.remove();
      },
    });
}

type GaugeRow = Record<(typeof gauges)[number][0], number>;

const gauges = [
  [
    "undispatched",
    "countersign_outbox_undispatched",
    "Events that are not handed out to endpoints yet, counted up to 10,000",
  ],
  ["undispatchedSeconds", "countersign_outbox_oldest_seconds", "Age of the oldest of them"],
  ["pending", "countersign_webhook_deliveries_pending", "Deliveries that wait, counted up to 10,000"],
  [
    "overdueSeconds",
    "countersign_webhook_overdue_seconds",
    "How long the delivery that is due the longest has been due",
  ],
  ["failing", "countersign_webhook_endpoints_failing", "Enabled endpoints whose last attempt failed"],
  [
    "stopped",
    "countersign_webhook_endpoints_stopped",
    "Endpoints that were disabled because they were gone or failed for days",
  ],
  ["approvals", "countersign_approvals_pending", "Approvals that wait for a person, counted up to 10,000"],
  [
    "unsettledSeconds",
    "countersign_approvals_overdue_seconds",
    "How long the approval that should have expired first has been overdue",
  ],
] as const;

/** Three bounds: the server gives a slow query up, we a server that says nothing, and the scrape does not wait for a connection either. */
async function readRow(pool: pg.Pool): Promise<GaugeRow | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), queryTimeoutMs);
  });
  const query = pool.query(boundedQuery).then(
    (results) => rowOf(results),
    () => undefined,
  );
  return Promise.race([query, timeout]).finally(() => clearTimeout(timer));
}

/** Several statements have several results, which the types do not know. */
function rowOf(results: unknown): GaugeRow | undefined {
  const last = Array.isArray(results) ? (results.at(-1) as pg.QueryResult<GaugeRow>) : undefined;
  return last?.rows[0];
}

const upTo = (table: string, where: string) =>
  `(SELECT count(*)::int FROM (SELECT 1 FROM ${table} WHERE ${where} LIMIT 10000) t)`;
const secondsSince = (instant: string) =>
  `coalesce(greatest(0, extract(epoch FROM statement_timestamp() - ${instant})), 0)::float8`;

const gaugesSql = `
SELECT ${upTo(`"outbox"`, `"dispatched_at" IS NULL`)} AS "undispatched",
  ${secondsSince(`(SELECT "at" FROM "outbox" WHERE "dispatched_at" IS NULL ORDER BY "id" LIMIT 1)`)} AS "undispatchedSeconds",
  ${upTo(`"webhook_delivery"`, `"status" = 'pending'`)} AS "pending",
  ${secondsSince(`(SELECT min(d."next_at") FROM "webhook_endpoint" e CROSS JOIN LATERAL (SELECT "next_at" FROM "webhook_delivery"
    WHERE "endpoint_id" = e."id" AND "status" = 'pending' ORDER BY "next_at" LIMIT 1) d WHERE e."disabled_at" IS NULL)`)} AS "overdueSeconds",
  (SELECT count(*)::int FROM "webhook_endpoint" WHERE "disabled_at" IS NULL AND "failing_since" IS NOT NULL) AS "failing",
  (SELECT count(*)::int FROM "webhook_endpoint" WHERE "disabled_reason" IN ('gone', 'failing')) AS "stopped",
  ${upTo(`"approval"`, `"status" = 'pending'`)} AS "approvals",
  ${secondsSince(`(SELECT min("expires_at") FROM "approval" WHERE "status" = 'pending')`)} AS "unsettledSeconds"`;

// Both in one message are one transaction, so the setting ends with it.
const boundedQuery: pg.QueryConfig & Pick<pg.ClientConfig, "query_timeout"> = {
  text: `SET LOCAL statement_timeout = ${queryTimeoutMs}; ${gaugesSql}`,
  query_timeout: queryTimeoutMs + 500,
};

import type { Config } from "../config";
import type { Service } from "../process";
import { ask, objectIn } from "./ask";
import { type Check, check, type Findings } from "./check";

/** Whether the service runs at `url`, is ready, and is this deployment: its issuer, its keys, the addresses that it gives out. */
export function checkRunning(url: string, config: Config, service: Service | undefined): Promise<Check> {
  return check("running service", async (found) => {
    const health = await ask(`${url}/healthz`);
    if (health.status !== 200 || objectIn(health)?.["status"] !== "ok")
      throw new Error(
        `Something else than Countersign answers at ${url}/healthz (${health.status}): look at the proxy.`,
      );
    const ready = await ask(`${url}/readyz`);
    if (ready.status !== 200)
      found.failures.push(
        `It is not ready (${ready.status}): ${failedIn(objectIn(ready)?.["checks"])}. Its log says why.`,
      );
    await judgeIdentity(found, url, config, service);
    found.facts.push(`Ready at ${url}.`);
  });
}

function failedIn(checks: unknown): string {
  const failed = Object.entries(checks ?? {}).filter(([, state]) => state !== "ok");
  return failed.map(([name]) => name).join(", ") || "it does not say why";
}

async function judgeIdentity(
  found: Findings,
  url: string,
  config: Config,
  service: Service | undefined,
): Promise<void> {
  const answer = await ask(`${url}/.well-known/countersign`);
  const wellKnown = objectIn(answer);
  if (answer.status === 404) {
    found.facts.push("Neither pages nor API are at this address (SURFACES).");
    return;
  }
  const issuer = wellKnown?.["issuer"];
  if (service && issuer !== service.issuer)
    found.failures.push(
      `Another deployment answers at ${url}: its issuer is ${String(issuer)}, not ${service.issuer}.`,
    );
  const endpoints = Object.values((wellKnown?.["endpoints"] ?? {}) as Record<string, unknown>);
  if (endpoints.some((endpoint) => !String(endpoint).startsWith(`${config.url}/`)))
    found.failures.push(
      `It gives out other addresses than ${config.url}: set the same COUNTERSIGN_URL for every process.`,
    );
  const keys = objectIn(await ask(`${url}/.well-known/jwks.json`))?.["keys"];
  const kids = Array.isArray(keys) ? keys.map((key) => (key as { kid?: unknown }).kid) : [];
  if (service && !kids.includes(service.keys.signer().kid))
    found.failures.push(
      `It does not publish the key that signs here: it has another database, or a stale cache is before it.`,
    );
}

import { randomBytes } from "node:crypto";
import { newApiKey } from "../api-keys/token";
import type { Service } from "../process";
import { isLoopbackHost } from "../requests/loopback";
import { wrongKeysMax } from "../throttle/count-wrong-key";
import { uncountVolume, volumeOf } from "../throttle/volume";
import { ask } from "./ask";
import { type Check, check } from "./check";

/**
 * Whose address the service sees through the proxy: sends one wrong API key with an `X-Forwarded-For` that this command makes up, and looks
 * whom it was counted against. The counts it makes are taken away.
 */
export function checkForwarded(service: Service, url: string): Promise<Check> {
  return check("visitors' addresses", async (found) => {
    const group = () => randomBytes(2).toString("hex");
    // Of the range for documentation (RFC 3849): nobody has it.
    const madeUp = `2001:db8:${group()}:${group()}::1`;
    const before = await countOf(service, "127.0.0.1");
    const answer = await ask(`${url}/api/v1/approvals/doctor`, {
      headers: { authorization: `Bearer ${newApiKey().apiKey}`, "x-forwarded-for": madeUp },
    });
    if (answer.status === 404) {
      found.facts.push("The API is not at this address (SURFACES): give that of its listener with --url.");
      return;
    }
    if (answer.status !== 401) throw new Error(`A wrong API key was answered with ${answer.status}, not 401.`);
    const isBelieved = (await countOf(service, madeUp)) > 0;
    const isProxyCounted = (await countOf(service, "127.0.0.1")) > before;
    if (isBelieved) await uncountVolume(service.pool, volumeOf(service.secrets, "api_key", madeUp, wrongKeysMax));
    if (isProxyCounted)
      await uncountVolume(service.pool, volumeOf(service.secrets, "api_key", "127.0.0.1", wrongKeysMax));
    const isDirect = isLoopbackHost(new URL(url).hostname);
    if (isBelieved)
      found.warnings.push(
        "An X-Forwarded-For that this command made up was believed. The proxy must add the address that it sees to the header or replace it, and TRUSTED_PROXIES must name the proxies alone. Only where this very machine is one of them is this right.",
      );
    else if (isProxyCounted && !isDirect)
      found.warnings.push(
        "Visitors have the address of a proxy on the service's machine (127.0.0.1): name it in TRUSTED_PROXIES, or one of them can make the others wait.",
      );
    found.facts.push("An X-Forwarded-For that was made up is not believed.");
  });
}

/** How many wrong keys are held against an address. */
async function countOf(service: Service, address: string): Promise<number> {
  const { keys } = volumeOf(service.secrets, "api_key", address, wrongKeysMax);
  const { rows } = await service.pool.query<{ count: number }>(
    `SELECT coalesce(sum("failures"), 0)::int AS "count" FROM "throttle" WHERE "key" = $1`,
    [keys[0]],
  );
  return rows[0]?.count ?? 0;
}

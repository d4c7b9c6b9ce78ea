import type { Config } from "../config";
import { contentSecurityPolicy, formOriginsOf, securityHeaders } from "../requests/security-headers";
import { ask } from "./ask";
import { type Check, check } from "./check";

/** Whether the headers that guard a page reach the browser as they were sent: a proxy may add, drop and rewrite. */
export function checkPageHeaders(url: string, config: Config): Promise<Check> {
  return check("proxy headers", async (found) => {
    const page = await ask(`${url}/signin`);
    if (page.status === 404 && !page.headers.get("content-security-policy")) {
      found.facts.push("No pages are at this address (SURFACES).");
      return;
    }
    for (const [name, sent] of Object.entries(securityHeaders(config.url))) {
      const arrived = page.headers.get(name);
      if (arrived === null) found.failures.push(`${name} does not arrive: the proxy drops it.`);
      else if (!isSame(name, arrived, sent))
        found.failures.push(
          `${name} arrives as "${arrived}", sent was "${sent}": let the proxy pass it on, and add none.`,
        );
    }
    const policy = page.headers.get("content-security-policy") ?? "";
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? "";
    const sent = contentSecurityPolicy(nonce, false, formOriginsOf("/signin", config.oidcProviders));
    if (nonce === "" || policy !== sent)
      found.failures.push(
        `Content-Security-Policy arrives ${policy === "" ? "not at all" : "changed"}: let the proxy pass it on, and add none.`,
      );
    const again = await ask(`${url}/signin`);
    if (nonce !== "" && again.headers.get("content-security-policy")?.includes(`'nonce-${nonce}'`))
      found.failures.push("Two requests got the same page: something before the service caches it. Cache nothing.");
    found.facts.push("They arrive as they were sent.");
  });
}

/** Said twice they arrive joined by a comma. Next adds to Cache-Control, and a proxy may. */
function isSame(name: string, arrived: string, sent: string): boolean {
  return name === "Cache-Control" ? arrived.split(/\s*,\s*/).includes(sent) : arrived === sent;
}

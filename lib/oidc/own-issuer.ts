import { type Config, ConfigError } from "../config";

/**
 * Refuses a provider whose people would be this service's own local accounts: their subjects are ids that anybody can read. Throws
 * `ConfigError`.
 */
export function refuseOwnIssuer(config: Pick<Config, "oidcProviders" | "url">, serviceIssuer: string): void {
  const own = new Set([serviceIssuer, config.url].map(plain));
  const faults = config.oidcProviders.flatMap(({ subjectIssuer }, index) =>
    own.has(plain(subjectIssuer))
      ? [`OIDC_PROVIDERS[${index}].subjectIssuer: is this service itself, whose people are its local accounts`]
      : [],
  );
  if (faults.length > 0) throw new ConfigError(faults);
}

/** Identities are compared as exact strings; here what only looks the same is refused as well. */
const plain = (issuer: string) => issuer.toLowerCase().replace(/\/+$/, "");

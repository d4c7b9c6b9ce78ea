import { stat } from "node:fs/promises";
import { type Config, ConfigError, parseConfig } from "../config";
import { isLoopbackHost } from "../requests/loopback";
import { secretFiles } from "../secrets/load";
import { type Check, check } from "./check";

/** The settings as the process would read them: every fault at once, and what is allowed but not for a production deployment. */
export async function checkSettings(
  env: Record<string, string | undefined>,
): Promise<{ settings: Check; config: Config | undefined }> {
  let config: Config | undefined;
  const settings = await check("settings", async (found) => {
    try {
      config = parseConfig(env);
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      found.failures.push(...error.faults.map((fault) => `${fault}.`));
      return;
    }
    const { url, databaseUrl, secret, previousSecret, dataDir, databaseOwnerUrl } = config;
    const isPublic = !isLoopbackHost(new URL(url).hostname);
    found.facts.push(
      `${url}, ${databaseUrl === undefined ? `embedded database in ${dataDir}` : "database of DATABASE_URL"}.`,
    );
    if (!isPublic)
      found.warnings.push(
        `COUNTERSIGN_URL is ${url}: only this machine can open a link. Set the public https address.`,
      );
    if (isPublic && databaseUrl === undefined)
      found.warnings.push(
        `The EMBEDDED database serves ${url}: one machine, one disk, no replica. Set DATABASE_URL to a PostgreSQL that you run and back up, or stop and copy ${dataDir} as docs/backup.md says.`,
      );
    if (databaseUrl !== undefined && databaseOwnerUrl !== undefined)
      found.facts.push("DATABASE_OWNER_URL is set here: safer is to set it only where `countersign migrate` runs.");
    if (secret && looksTyped(secret))
      found.warnings.push(
        "COUNTERSIGN_SECRET reads as text somebody wrote, not as random bytes: make one with `openssl rand -hex 32` and rotate to it.",
      );
    if (!secret) found.failures.push(...(await openSecretFile(dataDir)));
    if (previousSecret)
      found.warnings.push(
        "COUNTERSIGN_SECRET_PREVIOUS is still set: end the rotation (docs/operations.md, «The secret»).",
      );
  });
  return { settings, config };
}

/** Of 32 random bytes all are printable ASCII once in 10^13 times, and few are different where something was repeated. */
function looksTyped(secret: Uint8Array): boolean {
  return secret.every((byte) => byte >= 0x20 && byte < 0x7f) || new Set(secret).size < secret.length / 2;
}

/** Only its owner may read the generated secret. */
async function openSecretFile(dataDir: string): Promise<string[]> {
  const { current } = secretFiles(dataDir);
  const stats = await stat(current).catch(() => undefined);
  if (!stats || process.platform === "win32" || (stats.mode & 0o077) === 0) return [];
  return [`${current} is open to other users: \`chmod 600\` it, then rotate the secret.`];
}

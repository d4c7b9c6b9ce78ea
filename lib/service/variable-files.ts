import { readFileSync } from "node:fs";

/**
 * Variables whose value is a secret may come from a file, as containers and systemd hand secrets out: `COUNTERSIGN_SECRET_FILE` names the
 * file that holds `COUNTERSIGN_SECRET`. Without blanks at its ends; at most 64 KiB. Each fault names its variable and never what a
 * file holds.
 */
export function readVariableFiles(given: Record<string, string>): { given: Record<string, string>; faults: string[] } {
  const read = { ...given };
  const faults: string[] = [];
  for (const name of fromFiles) {
    const file = given[`${name}_FILE`];
    if (file === undefined) continue;
    const content = given[name] === undefined ? readSecret(file) : { fault: `must not be set beside ${name}` };
    if ("fault" in content) faults.push(`${name}_FILE: ${content.fault}`);
    else read[name] = content.value;
  }
  return { given: read, faults };
}

/** Those whose value opens something. */
const fromFiles = [
  "COUNTERSIGN_SECRET",
  "COUNTERSIGN_SECRET_PREVIOUS",
  "DATABASE_URL",
  "DATABASE_OWNER_URL",
  "OIDC_PROVIDERS",
  "METRICS_TOKEN",
] as const;

const fileMaxBytes = 65_536;

function readSecret(file: string): { value: string } | { fault: string } {
  try {
    const content = readFileSync(file);
    if (content.byteLength > fileMaxBytes) return { fault: "names a file of more than 64 KiB" };
    const value = content.toString("utf8").trim();
    return value === "" ? { fault: "names an empty file" } : { value };
  } catch (error) {
    return { fault: `names a file that cannot be read (${(error as NodeJS.ErrnoException).code ?? "unknown"})` };
  }
}

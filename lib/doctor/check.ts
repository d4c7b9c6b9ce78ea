export type CheckStatus = "ok" | "warning" | "failed";

/** What one check found. `message` says what is so, and where it is not as it should be what to do. */
export type Check = { name: string; status: CheckStatus; message: string };

/** What a check collects. Facts are told where there is nothing else to tell. */
export type Findings = { failures: string[]; warnings: string[]; facts: string[] };

/** Runs one check to its end; what it throws is a failure of this check alone. */
export async function check(name: string, look: (found: Findings) => Promise<void> | void): Promise<Check> {
  const found: Findings = { failures: [], warnings: [], facts: [] };
  try {
    await look(found);
  } catch (error) {
    found.failures.push(sentenceOf(error));
  }
  const { failures, warnings, facts } = found;
  const status = failures.length > 0 ? "failed" : warnings.length > 0 ? "warning" : "ok";
  return { name, status, message: (status === "ok" ? facts : [...failures, ...warnings]).join(" ") };
}

/** A check that could not be made, because another one found what it needs missing. */
export function unchecked(name: string, reason: string): Check {
  return { name, status: "warning", message: `Not checked: ${reason}.` };
}

/** One line of whatever was thrown; of a network failure also its cause, which names the address. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return `${String(error)}.`;
  const detail = (error as { extras?: { detail?: string } }).extras?.detail;
  const cause = error.cause instanceof Error && error.cause.message ? ` (${error.cause.message})` : "";
  const text = `${detail ?? (error.message || error.name)}${cause}`.replaceAll(/\s+/g, " ");
  return /[.!?)]$/.test(text) ? text : `${text}.`;
}

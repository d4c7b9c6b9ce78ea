import { CommanderError } from "commander";
import { ConfigError } from "@/lib/config";
import { isConnectionLoss, Problem, problems } from "@/lib/problem";
import { inspectText } from "@/lib/text/inspect";

/** What a command found out: an object for programs, lines for people. */
export type Result = { json: Record<string, unknown>; lines: string[] };

/** Writes the result to standard output: one JSON object, or lines in which every hidden character is drawn (I11). */
export function printResult(result: Result, asJson: boolean): void {
  const text = asJson ? JSON.stringify(result.json) : result.lines.map(drawn).join("\n");
  process.stdout.write(`${text}\n`);
}

/** Writes why a command failed to standard error, and returns its exit code: 2 where it was called wrongly, else 1. */
export function printFailure(error: unknown, asJson: boolean): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const { code, message } = describeFailure(error);
  const isUsage = error instanceof CommanderError;
  // Commander has written its own words already, unless they were asked for as JSON.
  if (asJson) process.stderr.write(`${JSON.stringify({ error: { code, message } })}\n`);
  else if (!isUsage) process.stderr.write(`${message.split("\n").map(drawn).join("\n")}\n`);
  return isUsage ? 2 : 1;
}

/** A failure that the command line itself has found. `code` is for programs. */
export class CommandError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.name = "CommandError";
    this.code = code;
  }
}

function describeFailure(error: unknown): { code: string; message: string } {
  if (error instanceof Problem) return { code: error.code, message: sentence(error) };
  if (error instanceof CommandError) return { code: error.code, message: error.message };
  if (error instanceof ConfigError) return { code: "configuration", message: error.message };
  if (error instanceof CommanderError) return { code: "usage", message: usageFault(error) };
  const message = error instanceof Error ? error.message || error.name : String(error);
  if (isConnectionLoss(error)) return { code: "unavailable", message: `The database does not answer: ${message}` };
  return { code: "internal", message };
}

/** Without a subcommand commander prints its help and has no words of its own. */
function usageFault(error: CommanderError): string {
  return error.code === "commander.help" ? "no command is named; see --help" : error.message.replace(/^error: /, "");
}

function sentence({ code, extras }: Problem): string {
  const head = extras.detail ?? problems[code].title;
  const faults = (extras.errors ?? []).map(({ pointer, message }) => `${pointer.slice(1) || "it"}: ${message}`);
  return faults.length === 0 ? head : `${head}: ${faults.join("; ")}`;
}

/** A terminal obeys control characters and turns text around: what came from outside must do neither. */
function drawn(line: string): string {
  return inspectText(line, { multiline: false })
    .map((span) => (span.kind === "text" ? span.text : `[${span.codePoint}]`))
    .join("");
}

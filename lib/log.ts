import { type Logger, pino } from "pino";
import type { Config } from "./config";

export type { Logger } from "pino";

/**
 * The process's logger: JSON lines on standard error. Request bodies, headers, cookies and arguments are never passed
 * to it; the redaction is the second line of defence, for objects logged whole by mistake.
 */
export function createLogger(config: Pick<Config, "logLevel">): Logger {
  return pino(
    {
      level: config.logLevel,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: redacted, censor: "[redacted]" },
    },
    pino.destination(2),
  );
}

const secretNames = [
  "authorization",
  "cookie",
  "password",
  "secret",
  "apiKey",
  "consumerToken",
  "matchCode",
  "code",
  "arguments",
  "action",
  "record",
  "receipt",
  "note",
  "presentation",
];
const redacted = secretNames.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

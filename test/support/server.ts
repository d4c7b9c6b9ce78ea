import { randomBytes } from "node:crypto";
import { type ServerProcess, startServerProcess } from "@/scripts/server-process";
import { logsDir } from "./database";

let count = 0;

/** The real process over a test's database; it logs at every level where the last test of the run looks for secrets. */
export async function startServer(options: {
  databaseUrl: string;
  secret?: string;
  env?: Record<string, string>;
}): Promise<ServerProcess> {
  count += 1;
  const env = {
    DATABASE_URL: options.databaseUrl,
    COUNTERSIGN_SECRET: options.secret ?? randomBytes(32).toString("hex"),
    COUNTERSIGN_NAME: "Example Corp",
    LOG_LEVEL: "trace",
    ...options.env,
  };
  return startServerProcess({ env, logFile: `${logsDir}/server-${process.pid}-${count}.log` });
}

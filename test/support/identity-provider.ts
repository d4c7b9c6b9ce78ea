import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { logsDir } from "./database";

export type Account = {
  id: string;
  claims?: Record<string, unknown>;
  amr?: unknown;
  /** The provider says that the person signed in so long before they did; negative: in the future. */
  loginAgeSeconds?: number;
};
export type ProviderClient = {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
  subject_type?: "public" | "pairwise";
  token_endpoint_auth_method?: "none";
  /** A provider that ignores `prompt=login` and `max_age`, or does not say `auth_time`. */
  sloppy?: "ignores_prompt" | "omits_auth_time";
};
export type ProviderSettings = {
  name: string;
  port: number;
  /** What its tokens and its discovery say; an honest one says its own address. */
  issuer: string;
  accounts: Account[];
  clients: ProviderClient[];
  /** Claims that ID tokens and access tokens carry beside `sub`. */
  claimNames: string[];
  /** The audience of the access tokens that it issues (RFC 8707). */
  resource: string;
};
export type IdentityProviders = { pid: number; stop(): Promise<void> };

/** Starts real OpenID providers, `oidc-provider` 9, in a process of their own: what they and the service share is HTTP. */
export async function startIdentityProviders(providers: ProviderSettings[]): Promise<IdentityProviders> {
  const script = path.join(import.meta.dirname, "identity-provider-process.ts");
  const child = spawn(process.execPath, ["--import", "tsx", script], {
    env: { ...process.env, NODE_ENV: "test", PROVIDERS: JSON.stringify(providers) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  mkdirSync(logsDir, { recursive: true });
  const log = createWriteStream(`${logsDir}/../identity-provider-${process.pid}.log`);
  child.stderr.pipe(log);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  await Promise.race([
    new Promise<void>((resolve) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        log.write(`${line}\n`);
        if (line === "ready") resolve();
      });
    }),
    exited.then(() => Promise.reject(new Error("the identity providers ended at once"))),
  ]);
  return {
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill("SIGTERM");
      await exited;
    },
  };
}

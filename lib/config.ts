import type { BlockList } from "node:net";
import path from "node:path";
import { z } from "zod";
import { type ConfiguredProvider, parseProviders } from "./oidc/parse-providers";
import type { OutboundPolicy } from "./outbound/policy";
import { outboundAllow } from "./outbound/variable";
import { isLoopbackHost } from "./requests/loopback";
import { trustedProxies } from "./requests/trusted-proxies";
import { readVariableFiles } from "./service/variable-files";
import { type Listener, wholeListener } from "./surfaces/parse";
import { surfacesFaults, surfacesVariable } from "./surfaces/variable";
import { tracesEndpoint, tracesHeaders } from "./traces/settings";
import type { TraceSettings } from "./traces/traces";

/**
 * Everything an operator can set, parsed once at start. Throws `ConfigError` with all faults together.
 * Nothing else reads `process.env`. An empty variable counts as unset.
 */
export function parseConfig(env: Record<string, string | undefined>): Config {
  const files = readVariableFiles(withoutEmpty(env));
  const { given } = files;
  const parsed = variables.safeParse(given);
  const faults = parsed.success
    ? previousFaults(parsed.data)
    : parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  const oidc = parseProviders(given);
  const all = [...faults, ...files.faults, ...databaseFaults(given), ...surfacesFaults(given), ...oidc.faults];
  if (!parsed.success || all.length > 0) throw new ConfigError(all);
  const v = parsed.data;
  const url = v.COUNTERSIGN_URL ?? `http://localhost:${v.PORT}`;
  return {
    host: v.HOST,
    port: v.PORT,
    listeners: v.SURFACES ?? [wholeListener(v.HOST, v.PORT, given["METRICS_TOKEN"] !== undefined)],
    // Nothing balances load before a deployment on loopback.
    drainGraceSeconds: v.DRAIN_GRACE_SECONDS ?? (isLoopbackHost(new URL(url).hostname) ? 0 : 5),
    url,
    name: v.COUNTERSIGN_NAME,
    databaseUrl: v.DATABASE_URL,
    databaseOwnerUrl: v.DATABASE_OWNER_URL,
    databasePoolMax: v.DATABASE_POOL_MAX,
    secret: v.COUNTERSIGN_SECRET,
    previousSecret: v.COUNTERSIGN_SECRET_PREVIOUS,
    dataDir: path.resolve(v.COUNTERSIGN_DATA_DIR),
    retainArgumentsSeconds: v.RETAIN_ARGUMENTS_SECONDS,
    trustedProxies: v.TRUSTED_PROXIES,
    oidcProviders: oidc.providers,
    outbound: v.OUTBOUND_ALLOW,
    metricsToken: v.METRICS_TOKEN,
    traces: v.OTEL_EXPORTER_OTLP_ENDPOINT
      ? {
          endpoint: v.OTEL_EXPORTER_OTLP_ENDPOINT,
          headers: v.OTEL_EXPORTER_OTLP_HEADERS,
          serviceName: v.OTEL_SERVICE_NAME,
        }
      : undefined,
    logLevel: v.LOG_LEVEL,
  };
}

export type Config = {
  /** Address and port that the process listens on. */
  host: string;
  port: number;
  /** What the process answers where; one listener on `host` and `port` unless `SURFACES` says otherwise. */
  listeners: Listener[];
  /** How long listeners go on after SIGTERM, while `/readyz` already answers 503. */
  drainGraceSeconds: number;
  /** Public origin: approval links, cookies and same-origin checks rest on it alone. */
  url: string;
  /** The organisation's name, in the header of each page. */
  name: string;
  /** Absent: the embedded database in `dataDir`. */
  databaseUrl: string | undefined;
  /** The role that owns the tables: migrations alone are applied as it, so that the role of `databaseUrl` needs to own nothing. */
  databaseOwnerUrl: string | undefined;
  databasePoolMax: number;
  /** 32 bytes or more. Absent: generated in `dataDir` at first start. */
  secret: Uint8Array | undefined;
  /** During a rotation: the secret before it, or the one to come. Accepted beside `secret`; nothing is written with it. */
  previousSecret: Uint8Array | undefined;
  dataDir: string;
  retainArgumentsSeconds: number;
  /** Sockets from these addresses may set `X-Forwarded-*`; from all others those headers are dropped. */
  trustedProxies: BlockList;
  /** Sign-in services beside local accounts, in the order of their buttons. */
  oidcProviders: ConfiguredProvider[];
  /** Whom this service may call beside public https hosts. */
  outbound: OutboundPolicy;
  /** Lets who has it read the metrics on a listener that answers people too. */
  metricsToken: string | undefined;
  /** Where traces go; absent: there are none. */
  traces: TraceSettings | undefined;
  logLevel: "trace" | "debug" | "info" | "warn" | "error" | "fatal" | "silent";
};

/** All faults of the configuration, one a line, each naming its variable. */
export class ConfigError extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(
      `The configuration has ${faults.length} fault${faults.length === 1 ? "" : "s"}:\n${faults.map((f) => `  ${f}`).join("\n")}`,
    );
    this.name = "ConfigError";
    this.faults = faults;
  }
}

const publicUrl = z.string().transform((text, context) => {
  const refuse = (message: string) => {
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return refuse("must be a URL such as https://approve.example.com");
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLoopbackHost(url.hostname)))
    return refuse("must be https (http is for loopback only)");
  if (url.username || url.password) return refuse("must hold no user name or password");
  if (url.pathname !== "/" || url.search || url.hash)
    return refuse("must be an origin without path, query or fragment");
  if (url.hostname.split(".").some((label) => label.startsWith("xn--")))
    return refuse("must not be an internationalised name (xn--): people cannot tell it from a look-alike");
  return url.origin;
});

const secretBytes = z.string().transform((text, context) => {
  const encoded = text.trim();
  const hex = /^[0-9a-f]+$/i.test(encoded) && encoded.length % 2 === 0;
  const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(encoded);
  const bytes = hex ? Buffer.from(encoded, "hex") : base64 ? Buffer.from(encoded, "base64") : undefined;
  if (!bytes || bytes.length < 32 || new Set(bytes).size < 16) {
    context.addIssue({
      code: "custom",
      message: "must be 32 or more random bytes in hex or base64 (openssl rand -hex 32)",
    });
    return z.NEVER;
  }
  return new Uint8Array(bytes);
});

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, "must be a whole number")
    .transform(Number)
    .pipe(z.number().min(min, `must be ${min} or more`).max(max, `must be ${max} or less`));

const databaseAddress = z.string().regex(/^postgres(ql)?:\/\//, "must start with postgresql://");

const variables = z.object({
  HOST: z.string().default("127.0.0.1"),
  PORT: wholeNumber(1, 65535).default(3000),
  SURFACES: surfacesVariable.optional(),
  DRAIN_GRACE_SECONDS: wholeNumber(0, 300).optional(),
  COUNTERSIGN_URL: publicUrl.optional(),
  COUNTERSIGN_NAME: z.string().max(80, "must be 80 characters or less").default("Countersign"),
  COUNTERSIGN_SECRET: secretBytes.optional(),
  COUNTERSIGN_SECRET_PREVIOUS: secretBytes.optional(),
  COUNTERSIGN_DATA_DIR: z.string().default(".countersign"),
  DATABASE_URL: databaseAddress.optional(),
  DATABASE_OWNER_URL: databaseAddress.optional(),
  DATABASE_POOL_MAX: wholeNumber(2, 200).default(10),
  RETAIN_ARGUMENTS_SECONDS: wholeNumber(0, 31_536_000).default(86_400),
  TRUSTED_PROXIES: trustedProxies,
  OUTBOUND_ALLOW: outboundAllow,
  METRICS_TOKEN: z
    .string()
    .regex(/^[\x21-\x7e]{20,200}$/, "must be 20 to 200 printable characters (openssl rand -hex 32)")
    .optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: tracesEndpoint.optional(),
  OTEL_EXPORTER_OTLP_HEADERS: tracesHeaders,
  OTEL_SERVICE_NAME: z.string().max(100, "must be 100 characters or less").default("countersign"),
  LOG_LEVEL: z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"]).default("info"),
});

function previousFaults(v: z.infer<typeof variables>): string[] {
  const { COUNTERSIGN_SECRET: secret, COUNTERSIGN_SECRET_PREVIOUS: previous } = v;
  if (!previous) return [];
  if (!secret) return ["COUNTERSIGN_SECRET_PREVIOUS: needs COUNTERSIGN_SECRET beside it"];
  return Buffer.from(previous).equals(secret)
    ? ["COUNTERSIGN_SECRET_PREVIOUS: must differ from COUNTERSIGN_SECRET"]
    : [];
}

function withoutEmpty(env: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value?.trim() ? [[name, value]] : [])));
}

function databaseFaults(given: Record<string, string | undefined>): string[] {
  if (given["DATABASE_URL"] === undefined)
    return given["DATABASE_OWNER_URL"] === undefined ? [] : ["DATABASE_OWNER_URL: needs DATABASE_URL beside it"];
  return ["COUNTERSIGN_SECRET", "COUNTERSIGN_URL"]
    .filter((name) => given[name] === undefined)
    .map((name) => `${name}: is required when DATABASE_URL is set`);
}

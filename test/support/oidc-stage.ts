import { pino } from "pino";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addTestClient, type TestClient } from "./actors";
import { createDatabase } from "./database";
import { freePorts } from "./free-port";
import { type ProviderClient, type ProviderSettings, startIdentityProviders } from "./identity-provider";
import { startServer } from "./server";

export type Stage = {
  server: ServerProcess;
  service: Service;
  client: TestClient;
  url: string;
  /** Issuers of the providers, by name. */
  acme: string;
  other: string;
  liar: string;
  stop(): Promise<void>;
};

const secret = "client-secret-of-tests";
/** The audience of the access tokens that MCP clients get. */
export const resource = "https://mcp.example/";
/** Where an MCP client of the tests takes its codes. */
export const mcpRedirect = "http://127.0.0.1:9/cb";

/**
 * The service, three providers and an MCP server registered with it. `acme` and `other` are honest, each with a client that is configured to
 * be sloppy; `liar` says in its tokens and its discovery that it is `acme`.
 */
export async function setStage(): Promise<Stage> {
  const [port = 0, acmePort = 0, otherPort = 0, liarPort = 0] = await freePorts(4);
  const url = `http://localhost:${port}`;
  const at = (p: number) => `http://127.0.0.1:${p}`;
  const [acme, other, liar] = [at(acmePort), at(otherPort), at(liarPort)];
  const client = (id: string, change: Partial<ProviderClient> = {}): ProviderClient => ({
    client_id: id,
    client_secret: secret,
    redirect_uris: [`${url}/api/auth/callback/${id}`],
    ...change,
  });
  const mcp = (id: string, change: Partial<ProviderClient> = {}): ProviderClient => ({
    client_id: id,
    redirect_uris: [mcpRedirect],
    token_endpoint_auth_method: "none",
    ...change,
  });
  const providers = await startIdentityProviders([
    {
      ...common,
      name: "acme",
      port: acmePort,
      issuer: acme,
      clients: [
        client("acme"),
        client("forgetful", { sloppy: "ignores_prompt" }),
        client("closed"),
        client("mismatched"),
        mcp("chat"),
      ],
    },
    {
      ...common,
      name: "other",
      port: otherPort,
      issuer: other,
      clients: [
        client("pairwise", { subject_type: "pairwise" }),
        client("timeless", { sloppy: "omits_auth_time" }),
        mcp("chat", { subject_type: "pairwise" }),
      ],
    },
    { ...common, name: "liar", port: liarPort, issuer: acme, clients: [client("liar")] },
  ]);
  const entry = (id: string, issuer: string, change: object = {}) => ({
    id,
    label: labels[id],
    issuer,
    clientId: id,
    clientSecret: secret,
    ...change,
  });
  const env = {
    PORT: String(port),
    OIDC_IMMUTABLE_CLAIMS: "employee_id",
    OIDC_PROVIDERS: JSON.stringify([
      entry("acme", acme, { roles: { claim: "groups", auditor: ["auditors"] } }),
      entry("forgetful", acme, { subjectIssuer: "https://forgetful.example" }),
      entry("pairwise", other, { subjectClaim: "employee_id" }),
      entry("timeless", other, { subjectIssuer: "https://timeless.example" }),
      entry("liar", liar),
      // A registration of its own, so that the same people can be unknown there.
      entry("closed", acme, { subjectIssuer: "https://closed.example", createUsers: false }),
      entry("down", "http://127.0.0.1:9"),
      entry("mismatched", acme, { subjectIssuer: "https://mismatched.example", idTokenAlg: "ES256" }),
    ]),
  };
  const server = await startServer({ databaseUrl: await createDatabase(), env });
  const { service, stop } = await startService(server.config, { log: pino({ level: "silent" }) });
  const subjectIssuers = server.config.oidcProviders.map(({ subjectIssuer }) => subjectIssuer);
  return {
    server,
    service,
    client: await addTestClient(service, {
      issuers: [service.issuer, ...subjectIssuers],
      maxMintsPerSubjectPerHour: 1_000,
      maxPendingPerSubject: 200,
      declineCooldownSeconds: 0,
    }),
    url,
    acme,
    other,
    liar,
    stop: async () => {
      await stop();
      await server.kill("SIGTERM");
      await providers.stop();
    },
  };
}

/** What the buttons are called. */
const labels: Record<string, string> = {
  acme: "Acme",
  forgetful: "Forgetful",
  pairwise: "Pairwise",
  timeless: "Timeless",
  liar: "Liar",
  closed: "Closed",
  down: "Down",
  mismatched: "Mismatched",
};

const common: Pick<ProviderSettings, "accounts" | "claimNames" | "resource"> = {
  claimNames: ["employee_id", "groups"],
  resource,
  accounts: [
    { id: "ada", claims: { name: "Ada Lovelace", email: "ada@acme.example", employee_id: "e-1" }, amr: ["pwd", "mfa"] },
    { id: "eve", claims: { name: "Eve", email: "eve@acme.example", employee_id: "e-2" } },
    // Calls herself by the address of somebody else's local account; a test fills it in.
    { id: "mallory", claims: { name: "Ada Lovelace", email: "ada@acme.example", employee_id: "e-3" } },
    { id: "iris", claims: { name: "Iris", employee_id: "e-4", groups: ["staff", "auditors"] } },
    // Signed in long ago, says the provider; or tomorrow.
    { id: "sleepy", claims: { name: "Sleepy", employee_id: "e-5" }, loginAgeSeconds: 3_600 },
    { id: "early", claims: { name: "Early", employee_id: "e-6" }, loginAgeSeconds: -3_600 },
    { id: "nameless", claims: { employee_id: 7 } },
    { id: "odd", claims: { name: "A\u202Edmin\u0000\n<b>x</b>", email: "odd\u200b@acme.example" }, amr: "pwd" },
    ...Array.from({ length: 12 }, (_, i) => ({
      id: `person-${i}`,
      claims: { name: `Person ${i}`, employee_id: `p-${i}` },
    })),
  ],
};

import { generateKeyPairSync, randomBytes } from "node:crypto";
import { type Context, Provider } from "oidc-provider";
import type { Account, ProviderSettings } from "./identity-provider";

// The process of the identity providers: each a real OpenID provider, with a login page that needs no JavaScript.
const settings = JSON.parse(process.env["PROVIDERS"] ?? "[]") as ProviderSettings[];
await Promise.all(settings.map(listen));
process.stdout.write("ready\n");

function listen(one: ProviderSettings): Promise<void> {
  const provider = createProvider(one);
  return new Promise((resolve) => provider.listen(one.port, "127.0.0.1", () => resolve()));
}

function createProvider(one: ProviderSettings): Provider {
  const accounts = new Map(one.accounts.map((account) => [account.id, account]));
  const provider = new Provider(one.issuer, {
    clients: one.clients.map(({ sloppy: _, ...client }) => client),
    findAccount: (_ctx: Context, id: string) =>
      accounts.has(id) ? { accountId: id, claims: () => ({ sub: id, ...accounts.get(id)?.claims }) } : undefined,
    jwks: { keys: [{ ...rsaKey(), use: "sig", alg: "RS256", kid: `${one.name}-1` }] },
    // Providers on one host share its cookies, whatever their port.
    cookies: {
      keys: [randomBytes(32).toString("hex")],
      names: { session: `${one.name}_session`, interaction: `${one.name}_interaction`, resume: `${one.name}_resume` },
    },
    claims: { openid: ["sub", "amr", ...one.claimNames], profile: ["name"], email: ["email"] },
    conformIdTokenClaims: false,
    subjectTypes: ["public", "pairwise"],
    pairwiseIdentifier: (_ctx: Context, accountId: string, client: { clientId: string }) =>
      Buffer.from(`${one.name}/${client.clientId}/${accountId}`).toString("base64url"),
    pkce: { required: () => true },
    interactions: { url: (_ctx: Context, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => undefined,
        useGrantedResource: () => true,
        getResourceServerInfo: (_ctx: Context, resource: string) => ({
          scope: "mcp",
          audience: resource,
          accessTokenFormat: "jwt",
          accessTokenTTL: 600,
        }),
      },
    },
    extraTokenClaims: (_ctx: Context, token: { accountId: string }) => {
      const claims = accounts.get(token.accountId)?.claims ?? {};
      return Object.fromEntries(one.claimNames.map((name) => [name, claims[name]]));
    },
    loadExistingGrant: grantAll,
    // Errors are for the caller of a test, not for a person.
    renderError: (ctx: Context, out: Record<string, unknown>, error: Error) => {
      ctx.type = "text/plain";
      ctx.body = JSON.stringify({ ...out, message: error.message });
    },
  });
  const sloppy = new Map(one.clients.map(({ client_id, sloppy: how }) => [client_id, how]));
  provider.use(async (ctx, next) => {
    if (ctx.path === "/auth") ctx.query = forgetful(ctx.query, sloppy.get(String(ctx.query["client_id"])));
    await (ctx.path.startsWith("/interaction/") ? interact(provider, accounts, ctx) : next());
  });
  return provider;
}

/** A provider that does not do as it is asked: forgets to ask the person again, or to say when it last did. */
function forgetful(query: Context["query"], how: "ignores_prompt" | "omits_auth_time" | undefined): Context["query"] {
  if (how === undefined) return query;
  const { prompt: _prompt, max_age: _maxAge, ...rest } = query;
  return how === "ignores_prompt" ? { ...rest, max_age: "31536000" } : rest;
}

async function grantAll({ oidc }: Context): Promise<unknown> {
  const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
  grant.addOIDCScope("openid profile email");
  for (const { resource } of settings) grant.addResourceScope(resource, "mcp");
  await grant.save();
  return grant;
}

/** The login page, and what is posted to it: `login` alone says who, for there is nothing here to protect. */
async function interact(provider: Provider, accounts: Map<string, Account>, ctx: Context): Promise<void> {
  if (ctx.method !== "POST") {
    ctx.type = "text/html";
    ctx.body = loginPage;
    return;
  }
  await provider.interactionDetails(ctx.req, ctx.res);
  const form = new URLSearchParams(await readBody(ctx));
  const account = accounts.get(form.get("login") ?? "");
  const result =
    form.get("answer") === "cancel" || !account
      ? { error: "access_denied", error_description: "the person said no" }
      : {
          login: {
            accountId: account.id,
            amr: account.amr ?? ["pwd"],
            ts: Math.floor(Date.now() / 1000) - (account.loginAgeSeconds ?? 0),
          },
        };
  await provider.interactionFinished(ctx.req, ctx.res, result);
  // It has answered by itself.
  (ctx as { respond?: boolean }).respond = false;
}

const loginPage = `<!doctype html><html lang="en"><title>Login</title><h1>Login</h1><form method="post">
<label>User <input name="login"></label>
<button type="submit" name="answer" value="login">Log in</button>
<button type="submit" name="answer" value="cancel">Cancel</button></form></html>`;

async function readBody(ctx: Context): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of ctx.req) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function rsaKey(): object {
  return generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ format: "jwk" });
}

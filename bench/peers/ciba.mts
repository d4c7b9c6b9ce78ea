import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Context, Provider } from "oidc-provider";
import pg from "pg";
import { createAdapter } from "./ciba-adapter.mts";
import { announce, setting } from "./front.mts";

// oidc-provider with CIBA in poll mode, its models in PostgreSQL. `POST /backchannel` makes the request that waits for a person; the
// click is `POST /{auth_req_id}/decision`, which grants it as an authentication device would; then `POST /token` gives the tokens.
const pool = new pg.Pool({ connectionString: setting("DATABASE_URL"), max: 10 });
const server = createServer();
server.listen(0, "127.0.0.1");
await once(server, "listening");
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const alg = "ES256";

const provider = new Provider(url, {
  adapter: await createAdapter(pool),
  clients: [
    {
      client_id: "bench",
      client_secret: setting("CLIENT_SECRET"),
      token_endpoint_auth_method: "client_secret_basic",
      grant_types: ["urn:openid:params:grant-type:ciba"],
      response_types: [],
      redirect_uris: [],
      backchannel_token_delivery_mode: "poll",
      id_token_signed_response_alg: alg,
    },
  ],
  jwks: {
    keys: [{ ...generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }), use: "sig" }],
  },
  cookies: { keys: [randomBytes(32).toString("hex")] },
  findAccount: (_ctx: Context, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
  ttl: { BackchannelAuthenticationRequest: 3_600, Grant: 3_600, AccessToken: 3_600, IdToken: 3_600 },
  features: {
    devInteractions: { enabled: false },
    ciba: {
      enabled: true,
      deliveryModes: ["poll"],
      processLoginHint: (_ctx: Context, loginHint: string) => loginHint,
      validateBindingMessage: () => undefined,
      validateRequestContext: () => undefined,
      verifyUserCode: () => undefined,
      triggerAuthenticationDevice: () => undefined,
    },
  },
});
provider.use(async (ctx, next) => {
  const id = /^\/([\w-]+)\/decision$/.exec(ctx.path)?.[1];
  await (ctx.method === "POST" && id !== undefined ? accept(ctx, id) : next());
});
server.on("request", provider.callback());
announce(url, [process.pid]);

async function accept(ctx: Context, id: string): Promise<void> {
  for await (const _chunk of ctx.req);
  const request = await provider.BackchannelAuthenticationRequest.find(id);
  if (!request) throw new Error(`${id} is unknown`);
  const grant = new provider.Grant({ accountId: request.accountId, clientId: request.clientId });
  grant.addOIDCScope("openid");
  await grant.save();
  await provider.backchannelResult(request, grant);
  ctx.status = 303;
  ctx.set("location", `/${id}`);
}

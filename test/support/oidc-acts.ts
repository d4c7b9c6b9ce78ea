import { createHash, randomBytes } from "node:crypto";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession } from "@/lib/sessions/session";
import { mintApproval } from "./actors";
import { formFor } from "./deciding";
import { mcpRedirect, resource, type Stage } from "./oidc-stage";
import { WebBrowser, type WebPage } from "./web-browser";

export const callback = /\/api\/auth\/callback\//;

/** Opens a page of ours, and signs in with the named provider as `login` where it leads to the sign-in page. */
export async function signInAt(
  stage: Stage,
  browser: WebBrowser,
  login: string,
  path = "/inbox",
  label = "Acme",
): Promise<WebPage> {
  const page = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(path)}`);
  return logIn(browser, await browser.submit(page, `Continue with ${label}`), login);
}

/** Fills in the provider's login page, if it shows one, and goes on; `until` stops at the answer. */
export async function logIn(browser: WebBrowser, page: WebPage, login: string, until?: RegExp): Promise<WebPage> {
  if (!page.text.startsWith("Login")) return page;
  const options = until ? { until } : {};
  const next = await browser.submit(page, "Log in", { login }, options);
  // The provider lets go of whoever was signed in there before, with a form that posts itself.
  const switching = next.forms.find(({ action }) => action.endsWith("/session/end/confirm"));
  return switching ? browser.post(switching.action, switching.fields, options) : next;
}

/** Signs in at the provider up to the answer that would come back to us, and stops there. */
export async function answerOf(
  stage: Stage,
  browser: WebBrowser,
  login: string,
  path = "/inbox",
  label = "Acme",
): Promise<string> {
  const page = await browser.open(`${stage.url}/signin?callbackUrl=${encodeURIComponent(path)}`);
  const there = await browser.submit(page, `Continue with ${label}`, {}, { until: callback });
  return callback.test(there.url) ? there.url : (await logIn(browser, there, login, callback)).url;
}

/** The session that a browser holds, as the service reads it; undefined where there is none. */
export function sessionOf(stage: Stage, browser: WebBrowser): Promise<PersonSession | undefined> {
  const cookie = browser.cookie("countersign.session");
  return readSession(stage.service, new Headers(cookie ? { cookie: `countersign.session=${cookie}` } : {}));
}

/** Who a browser is signed in as: `sub`, or undefined. */
export async function whoIs(stage: Stage, browser: WebBrowser): Promise<string | undefined> {
  return (await sessionOf(stage, browser))?.sub;
}

/** An approval for this caller, that asks for a sign-in of at most this age, each another action. */
export async function ask(
  stage: Stage,
  person: { iss: string; sub: string },
  requirements: Record<string, unknown> = {},
): Promise<{ id: string; url: string }> {
  count += 1;
  const action = { tool: "delete_project", arguments: { project_id: `p_${count}` } };
  const change = { action, requirements: { matchCode: false, ...requirements } };
  return mintApproval(stage.client, person, change);
}
let count = 0;

/** Accepts as the page's form would that this browser got two seconds ago. */
export async function approve(stage: Stage, browser: WebBrowser, id: string): Promise<WebPage> {
  const session = await sessionOf(stage, browser);
  if (!session) throw new Error("nobody is signed in");
  const form = await formFor(stage.service, session, id, "accept");
  const { csrf, stamp, locale, renderedAt } = form;
  return browser.post(`${stage.url}/a/${id}/decision`, {
    csrf,
    stamp,
    locale,
    renderedAt: String(renderedAt),
    read: "yes",
    decision: "accept",
  });
}

export async function statusOf(stage: Stage, id: string): Promise<string> {
  const response = await stage.client.api("GET", `/approvals/${id}`);
  return ((await response.json()) as { status: string }).status;
}

/** The receipt of an approval that ended or was accepted; its signature is somebody else's test. */
export async function receiptOf(stage: Stage, id: string): Promise<Record<string, unknown>> {
  const response = await stage.client.api("GET", `/approvals/${id}`);
  const { receipt } = (await response.json()) as { receipt: string };
  return decodeJwt(receipt);
}

export type McpCaller = { iss: string; sub: string; claims: Record<string, unknown>; accessToken: string };

/** What an MCP server knows of its caller: the verified access token that an MCP client got for this person (RFC 9068). */
export async function mcpCallerOf(issuer: string, login: string): Promise<McpCaller> {
  const browser = new WebBrowser();
  const verifier = randomBytes(32).toString("base64url");
  const query = new URLSearchParams({
    client_id: "chat",
    response_type: "code",
    redirect_uri: mcpRedirect,
    scope: "openid mcp",
    resource,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  const answer = await logIn(browser, await browser.open(`${issuer}/auth?${query}`), login, /:9\/cb/);
  const code = new URL(answer.url).searchParams.get("code") ?? "";
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      redirect_uri: mcpRedirect,
      client_id: "chat",
      code_verifier: verifier,
      resource,
    }),
  });
  const { access_token } = (await response.json()) as { access_token: string };
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const { payload } = await jwtVerify(access_token, keys, { issuer, audience: resource, typ: "at+jwt" });
  return { iss: payload.iss ?? "", sub: payload.sub ?? "", claims: payload, accessToken: access_token };
}

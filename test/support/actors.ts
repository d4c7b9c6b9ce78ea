import { randomUUID } from "node:crypto";
import { createMachineApp } from "@/app/api/machine";
import { scopes } from "@/lib/api-keys/authenticate";
import { createKey } from "@/lib/api-keys/create";
import type { MintAnswer } from "@/lib/approvals/mint-answer";
import { addClient } from "@/lib/clients/add";
import { setPolicy } from "@/lib/clients/set-policy";
import type { Service } from "@/lib/process";
import { sessionCookie } from "@/lib/sessions/cookie";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession, SessionClaims } from "@/lib/sessions/session";
import { startSession } from "@/lib/sessions/start";
import { addUser } from "@/lib/users/add";

export const password = "correct horse battery staple";
const actor = { kind: "admin", via: "cli" } as const;

/** Stands in arguments and notes of tests; must be found in no log. */
export const canary = "canary-7f3a9c-never-logged";

export type Person = { userId: string; iss: string; sub: string; email: string };

export async function addPerson(service: Service, name = "Ada", roles: ("auditor" | "admin")[] = []): Promise<Person> {
  const email = `${name.toLowerCase()}-${randomUUID().slice(0, 8)}@example.com`;
  const { userId, iss, sub } = await addUser(service, { email, name, roles, password }, actor);
  return { userId, iss, sub, email };
}

/** Somebody who has just signed in: the claims, the session as the pages see it, and the cookie of the browser. */
export async function signIn(
  service: Service,
  person: Person,
  change: Partial<SessionClaims> = {},
): Promise<{ session: PersonSession; cookie: string }> {
  const claims = { ...(await startSession(service, { ...person, amr: ["pwd"] })), ...change };
  const cookie = (await sessionCookie(service, claims)).split(";")[0] ?? "";
  const session = await readSession(service, new Headers({ cookie }));
  if (!session) throw new Error("the session does not hold");
  return { session, cookie };
}

export type Api = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>;
export type TestClient = { clientId: string; keyId: string; apiKey: string; api: Api };

/** An MCP server with a key for everything; `api` calls the machine API without a port. */
export async function addTestClient(
  service: Service,
  policy: Record<string, unknown> = {},
  keyOptions: { scopes?: (typeof scopes)[number][]; tools?: string[] } = {},
): Promise<TestClient> {
  const { clientId } = await addClient(service, { name: "CRM server" }, actor);
  if (Object.keys(policy).length > 0) await setPolicy(service, clientId, policy, actor);
  const { keyId, apiKey } = await createKey(
    service,
    { clientId, scopes: keyOptions.scopes ?? [...scopes], tools: keyOptions.tools ?? [] },
    actor,
  );
  return { clientId, keyId, apiKey, api: apiFor(service, apiKey) };
}

export function apiFor(service: Service, apiKey: string | undefined): Api {
  const app = createMachineApp(service);
  return async (method, path, body, headers = {}) =>
    app.fetch(
      new Request(`${service.config.url}/api/v1${path}`, {
        method,
        headers: {
          ...(apiKey ? { Authorization: `Bearer ${apiKey}` } : {}),
          ...(body === undefined ? {} : { "Content-Type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    );
}

/** A request that a person could be asked, for this caller. `change` replaces top-level members. */
export function mintBody(person: { iss: string; sub: string }, change: Record<string, unknown> = {}) {
  return {
    caller: { iss: person.iss, sub: person.sub, clientId: "chat-app" },
    action: { tool: "delete_project", arguments: { project_id: "p_42", expected_items: 318, reason: canary } },
    presentation: {
      title: "Delete project Apollo",
      purpose: "Customer asked to close the account",
      irreversible: true,
      details: [{ label: "Project", value: "Apollo (p_42)", risk: true }],
    },
    requirements: { matchCode: false },
    ...change,
  };
}

export async function mintApproval(
  client: TestClient,
  person: { iss: string; sub: string },
  change: Record<string, unknown> = {},
): Promise<MintAnswer> {
  const response = await client.api("POST", "/approvals", mintBody(person, change));
  if (response.status !== 201 && response.status !== 200)
    throw new Error(`mint answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as MintAnswer;
}

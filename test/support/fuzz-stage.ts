import { randomBytes } from "node:crypto";
import { createKey } from "@/lib/api-keys/create";
import { revokeKey } from "@/lib/api-keys/revoke";
import { newApprovalId } from "@/lib/approvals/id";
import { addPerson, addTestClient, mintApproval, mintBody, type Person, signIn, type TestClient } from "./actors";
import type { TestService } from "./database";
import { expireIn, lapseNow } from "./deadline";
import { decideAs } from "./deciding";
import type { Senders } from "./openapi-arbitrary";
import type { Known } from "./openapi-arbitrary-json";

const actor = { kind: "admin", via: "cli" } as const;
const token = () => randomBytes(32).toString("base64url");
const bearer = (key: string) => `Bearer ${key}`;

export type FuzzStage = { client: TestClient; ada: Person; senders: Senders; known: (operation: string) => Known };

/** A client with approvals in every state there is, keys that are let in and keys that are not, and what leads to them. */
export async function fuzzStage({ service }: TestService): Promise<FuzzStage> {
  const policy = { maxMintsPerSubjectPerHour: 100_000, maxPendingPerSubject: 1_000, tools: ["delete_project", "x"] };
  const client = await addTestClient(service, policy);
  const ada = await addPerson(service);
  const { session } = await signIn(service, ada);
  const { caller, action, presentation } = mintBody(ada);
  const mint = async (change: Record<string, unknown> = {}) => (await mintApproval(client, ada, change)).id;
  const decided = async (choice: "accept" | "decline" | "cancel", change: Record<string, unknown> = {}) => {
    const id = await mint({ actBySeconds: 3_600, ...change });
    await decideAs(service, session, id, choice);
    return id;
  };
  const consumerToken = token();
  const consumed = async (outcome?: string) => {
    const id = await decided("accept");
    await client.api("POST", `/approvals/${id}/consume`, { caller, action, consumerToken });
    if (outcome) await client.api("POST", `/approvals/${id}/outcome`, { consumerToken, outcome });
    return id;
  };
  const times = <T>(n: number, make: () => Promise<T>) => Promise.all(Array.from({ length: n }, make));

  const accepted = await times(30, () => decided("accept"));
  const bound = await times(20, () => decided("accept", { preconditions: { etag: "1" } }));
  const ran = await times(30, () => consumed());
  const pending = await times(30, () => mint({ ttlSeconds: 3_600 }));
  const over = [await consumed("succeeded"), await decided("cancel"), await mint(), await decided("accept")];
  await client.api("POST", `/approvals/${over[2]}/withdraw`, { reason: "aborted" });
  await lapseNow(service, over[3] ?? "");
  const expired = await mint();
  await expireIn(service, expired, -1);
  const other = await addTestClient(service);
  const foreign = (await mintApproval(other, ada)).id;
  // Last: what was declined is not asked again.
  over.push(await decided("decline"));
  const all = [
    ...over,
    expired,
    foreign,
    newApprovalId(),
    ...pending.slice(0, 3),
    ...accepted.slice(0, 3),
    ...ran.slice(0, 3),
  ];

  const { nextCursor } = (await (await client.api("GET", "/approvals?limit=3")).json()) as { nextCursor: string };

  const known: Record<string, Known> = {
    "post /approvals": {
      action: ["delete_project", "x"]
        .map((tool) => ({ ...action, tool }))
        .concat({ tool: "x", arguments: {} as never }),
      caller: [caller, ...Array.from({ length: 60 }, (_, i) => ({ iss: ada.iss, sub: `sub-${i}` }))],
      subject: [],
      title: [presentation.title, { en: "Delete", ja: "削除" }, "\u202e odd \u0301"],
      label: ["Items"],
      checks: [[{ label: "Items", claimed: 1, actual: 1 }]],
      metadata: [{ orderId: "PO-1", count: 2 }],
      iss: [ada.iss],
      "Idempotency-Key": ["key-1", "key-2"],
    },
    "get /approvals": { tool: ["delete_project"], cursor: [nextCursor], limit: ["1", "100"] },
    "get /approvals/{id}": { id: [...all, ...pending], wait: ["0", "1", "55"] },
    "post /approvals/{id}/consume": {
      id: [...accepted, ...bound, ...all],
      caller: [caller],
      action: [action],
      consumerToken: [token(), consumerToken],
      preconditions: [{ etag: "1" }],
    },
    "post /approvals/{id}/outcome": { id: [...ran, ...all], consumerToken: [consumerToken, consumerToken, token()] },
    "post /approvals/{id}/withdraw": { id: [...pending, ...all] },
  };
  return {
    client,
    ada,
    senders: await sendersOf({ service } as TestService, client, other),
    known: (operation) => known[operation] ?? {},
  };
}

async function sendersOf({ service }: TestService, client: TestClient, other: TestClient): Promise<Senders> {
  const { clientId, apiKey } = client;
  const readOnly = await createKey(service, { clientId, scopes: ["approvals:read"] }, actor);
  const narrow = await createKey(service, { clientId, tools: ["x"] }, actor);
  const revoked = await createKey(service, { clientId }, actor);
  await revokeKey(service, revoked.keyId, actor);
  return {
    good: [
      ...Array.from({ length: 12 }, () => bearer(apiKey)),
      bearer(readOnly.apiKey),
      bearer(narrow.apiKey),
      bearer(other.apiKey),
    ],
    bad: [
      bearer(revoked.apiKey),
      bearer(`${apiKey.slice(0, -1)}${apiKey.endsWith("A") ? "B" : "A"}`),
      bearer(`csk_000000000000_${"A".repeat(43)}`),
      bearer(`${apiKey}x`),
      `bearer ${apiKey}`,
      `Basic ${Buffer.from(apiKey).toString("base64")}`,
      "Bearer",
      "",
      `Bearer  ${apiKey}`,
    ],
  };
}

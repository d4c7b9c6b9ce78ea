import { randomBytes } from "node:crypto";
import type { Sent } from "./send";
import { sendJson } from "./send";
import type { BenchClient, BenchPerson } from "./stage";

/** Every value of the arguments, as it must stand on the page. */
export const argumentValues = ["p_42", "318", "a@example.com", "b@example.com"];

const action = {
  tool: "delete_project",
  arguments: { project_id: "p_42", expected_items: 318, notify: ["a@example.com", "b@example.com"] },
};

type Subject = { iss: string; sub: string };
const callerOf = ({ iss, sub }: Subject) => ({ iss, sub, clientId: "chat-app" });

/** What one MCP server sends to have one person asked. */
export function mintBody(subject: Subject): string {
  return JSON.stringify({
    caller: callerOf(subject),
    action,
    presentation: {
      title: "Delete project Apollo",
      purpose: "Customer asked to close the account",
      irreversible: true,
      details: [{ label: "Project", value: "Apollo (p_42)", risk: true }],
    },
    requirements: { matchCode: false },
    ttlSeconds: 3_600,
    actBySeconds: 3_600,
  });
}

export function mintCall(client: BenchClient, subject: Subject): Sent {
  return { method: "POST", url: client.approvalsUrl, headers: client.headers, body: mintBody(subject) };
}

/** As the kit asks: a live approval is found again (`reuse`), and a repetition is known by its key. */
export function kitMintCall(client: BenchClient, subject: Subject): Sent {
  return {
    method: "POST",
    url: client.approvalsUrl,
    headers: { ...client.headers, "idempotency-key": randomBytes(16).toString("base64url") },
    body: JSON.stringify({ ...JSON.parse(mintBody(subject)), reuse: "live" }),
  };
}

export function readCall(client: BenchClient, id: string, waitSeconds = 0): Sent {
  const query = waitSeconds > 0 ? `?wait=${waitSeconds}` : "";
  return { method: "GET", url: `${client.approvalsUrl}/${id}${query}`, headers: client.headers };
}

export function consumeCall(client: BenchClient, subject: Subject, id: string): Sent {
  const consumerToken = randomBytes(32).toString("base64url");
  const body = JSON.stringify({ caller: callerOf(subject), action, consumerToken });
  return { method: "POST", url: `${client.approvalsUrl}/${id}/consume`, headers: client.headers, body };
}

export async function mintOne(client: BenchClient, person: BenchPerson): Promise<string> {
  return (await sendJson<{ id: string }>(mintCall(client, person), 201)).id;
}

import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { actionDigest } from "@countersign/mcp/digest";
import { onTestFinished } from "vitest";

export type Seen = { method: string; path: string; headers: IncomingMessage["headers"]; body: string };
/** What to do with one request; `undefined` closes the connection without an answer, as when an answer is lost. */
export type Reply = { status: number; headers?: Record<string, string>; body: unknown } | undefined;

export const apiKey = "csk_aaaaaaaaaaaa_this-is-the-secret-that-nothing-may-show-0123";
export const approvalId = "apr_00000000000000000000000000";
export const action = { tool: "delete_project", arguments: { project_id: "p_42" } };
export const caller = { iss: "https://as.example.com", sub: "user_456" };
const salt = "AAECAwQFBgcICQoLDA0ODw";

/** An HTTP server on loopback that answers as the test says, and everything it was sent. */
export async function startHostileService(
  replyTo: (request: Seen, count: number) => Reply,
): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const server = createServer(async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = "", url: path = "", headers } = request;
    const one = { method, path, headers, body: Buffer.concat(chunks).toString("utf8") };
    seen.push(one);
    const reply = replyTo(one, seen.length);
    if (reply === undefined) return void response.socket?.destroy();
    response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
    response.end(typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise<void>((done) => server.close(() => done()));
  });
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`, seen };
}

export function mintReply(change: Record<string, unknown> = {}): Reply {
  const url = `https://countersign.example.com/a/${approvalId}`;
  const body = {
    id: approvalId,
    status: "pending",
    next: "wait",
    url,
    salt,
    actionDigest: actionDigest({ ...action, salt }),
    elicitation: { mode: "url", url, message: "Please decide." },
    ...change,
  };
  return { status: 201, body };
}

export const acceptedReply = (change: Record<string, unknown> = {}): Reply => ({
  status: 200,
  body: { id: approvalId, status: "accepted", next: "run", subject: caller, caller, ...change },
});

export const problemReply = (status: number, code: string, more: Record<string, unknown> = {}): Reply => ({
  status,
  headers: { "content-type": "application/problem+json" },
  body: { status, code, ...more },
});

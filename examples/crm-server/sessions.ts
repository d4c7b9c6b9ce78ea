import { randomUUID } from "node:crypto";
import { type AuthInfo, type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

const IDLE_MS = 30 * 60_000;

type Session = { transport: WebStandardStreamableHTTPServerTransport; owner: string; lastUsedAt: number };

/** Serves MCP clients of revision 2025-11-25 and older, which hold a session. */
export type Sessions = {
  handle(request: Request, authInfo: AuthInfo): Promise<Response>;
  close(): Promise<void>;
};

/**
 * One server and one transport for each session. A session belongs to whoever opened it: its id in other hands is an unknown one.
 * Sessions that were not used for half an hour are closed when the next one opens.
 */
export function createSessions(createServer: () => McpServer): Sessions {
  const sessions = new Map<string, Session>();

  const open = async (request: Request, authInfo: AuthInfo): Promise<Response> => {
    await closeIdle(sessions);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        sessions.set(id, { transport, owner: ownerOf(authInfo), lastUsedAt: Date.now() });
      },
      onsessionclosed: (id) => {
        sessions.delete(id);
      },
    });
    const server = createServer();
    await server.connect(transport);
    const response = await transport.handleRequest(request, { authInfo });
    // Anything but an initialization was refused, and opened nothing.
    if (transport.sessionId === undefined) await server.close();
    return response;
  };

  return {
    async handle(request, authInfo) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) return await open(request, authInfo);
      const session = sessions.get(id);
      if (session === undefined || session.owner !== ownerOf(authInfo)) return unknownSession();
      session.lastUsedAt = Date.now();
      return await session.transport.handleRequest(request, { authInfo });
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
      sessions.clear();
    },
  };
}

function ownerOf({ clientId, extra }: AuthInfo): string {
  return JSON.stringify([extra?.["iss"], extra?.["sub"], clientId]);
}

async function closeIdle(sessions: Map<string, Session>): Promise<void> {
  for (const [id, session] of sessions) {
    if (Date.now() - session.lastUsedAt < IDLE_MS) continue;
    sessions.delete(id);
    await session.transport.close();
  }
}

function unknownSession(): Response {
  const error = { code: -32001, message: "Session not found" };
  return Response.json({ jsonrpc: "2.0", error, id: null }, { status: 404 });
}

import { randomBytes } from "node:crypto";
import type { Gate } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

export type Post = { id: string; headline: string; publishedBy: string[] };

/** One post under a new id; `publishedBy` lists the approvals under which it went out. */
export function openPost(): Post {
  return { id: `post_${randomBytes(4).toString("hex")}`, headline: "We are moving", publishedBy: [] };
}

/** Nothing here is about MCP clients without links: the gate sees what a client can do, and sends its user to the inbox. */
export function createBlog(gate: Gate, post: Post): McpServer {
  const server = new McpServer(
    { name: "blog", version: "1.0.0" },
    { requestState: { verify: gate.verifyRequestState } },
  );
  gate.guard(
    {
      server,
      tool: "publish_post",
      tier: 3,
      description: "Publishes a post on the company's site. The user has to approve it.",
      inputSchema: z.object({ post_id: z.literal(post.id) }),
      presentation: () => ({ title: `Publish “${post.headline}”`, destination: "public web site" }),
    },
    (_args, _ctx, { approvalId }) => {
      post.publishedBy.push(approvalId);
      return { content: [{ type: "text", text: `Published “${post.headline}”.` }] };
    },
  );
  return server;
}

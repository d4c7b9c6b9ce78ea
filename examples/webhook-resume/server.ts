import { type Caller, callerFromAuthInfo, type Resumer } from "@countersign/mcp";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { FileJobs } from "./jobs";

/** Project id → name. `deletedBy` lists the approvals under which one was deleted. */
export type Projects = { names: Map<string, string>; deletedBy: string[] };

const deletion = z.object({ project_id: z.string() });
type Deletion = z.infer<typeof deletion>;

/**
 * What is done once it is approved. Made once at the start, before any MCP client is there: it may be another process by then than the one
 * that asked, so it knows nothing of a call but its arguments and whose it was.
 */
export function createDeletion(resumer: Resumer, projects: Projects) {
  return resumer.guard<Deletion>(
    {
      tool: "delete_project",
      presentation: ({ project_id }) => ({
        title: `Delete project ${nameOf(projects, project_id)}`,
        destination: "production",
        irreversible: true,
      }),
      // Read again right before it runs: a project that was renamed meanwhile is not the one that was approved.
      preconditions: ({ project_id }) => ({ name: nameOf(projects, project_id) }),
    },
    ({ project_id }, _ctx, { approvalId }) => {
      const name = nameOf(projects, project_id);
      projects.names.delete(project_id);
      projects.deletedBy.push(approvalId);
      return `Deleted ${name}.`;
    },
  );
}

/** `delete_project` answers at once, and `request_status` tells later what came of it. No call waits for anybody. */
export function createProjectServer(tool: ReturnType<typeof createDeletion>, jobs: FileJobs): McpServer {
  const server = new McpServer({ name: "projects", version: "1.0.0" });
  const { annotations, _meta } = tool;
  server.registerTool(
    "delete_project",
    {
      description: "Deletes a project once the user has approved it on a separate page. Answers at once.",
      inputSchema: deletion,
      annotations,
      _meta,
    },
    (args, ctx) => tool.ask(args, { caller: callerFromAuthInfo(ctx), signal: ctx.mcpReq.signal }),
  );
  server.registerTool(
    "request_status",
    {
      description: "Tells what came of a request that runs when it is approved.",
      inputSchema: z.object({ reference: z.string() }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ reference }, ctx) => {
      const row = jobs.look(reference);
      const isTheirs = row !== undefined && isSame(row.job.caller, callerFromAuthInfo(ctx));
      const text = isTheirs ? (row.end?.text ?? "It has not run yet.") : "There is no such request.";
      return { content: [{ type: "text", text }] };
    },
  );
  return server;
}

function nameOf({ names }: Projects, id: string): string {
  const name = names.get(id);
  if (name === undefined) throw new Error(`There is no project ${id}.`);
  return name;
}

function isSame(owner: Caller, caller: Caller | undefined): boolean {
  return owner.iss === caller?.iss && owner.sub === caller.sub;
}

import type { Gate } from "@countersign/mcp";
import { type CallToolResult, McpServer, type ServerContext } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Projects } from "./projects";

const INSTRUCTIONS =
  "A small CRM. delete_project asks the user on a separate page before it runs; never try to get around a refusal.";

/** The CRM's MCP server: two tools that run at once, and one that runs only when the user has approved exactly that call. */
export function createCrmServer(gate: Gate, projects: Projects): McpServer {
  const server = new McpServer(
    { name: "crm", version: "1.0.0" },
    { instructions: INSTRUCTIONS, requestState: { verify: gate.verifyRequestState } },
  );
  addListProjects(server, gate, projects);
  addUpdateProject(server, gate, projects);
  addDeleteProject(server, gate, projects);
  return server;
}

/** Tier 3: it cannot be undone, so a person decides. This is all that guarding a tool takes. */
function addDeleteProject(server: McpServer, gate: Gate, projects: Projects): void {
  gate.guard(
    {
      server,
      tool: "delete_project",
      tier: 3,
      title: "Delete a project",
      description: "Deletes a project with everything in it. The user has to approve it on a separate page.",
      inputSchema: z.object({
        project_id: z.string().describe("The project's id, as list_projects gives it"),
        expected_items: z.number().int().describe("How many items the project has, as list_projects gives it"),
      }),
      annotations: { idempotentHint: false, openWorldHint: false },
      // Names and figures come from our own data, not from the model.
      presentation: ({ project_id }) => {
        const project = known(projects, project_id);
        const value = `${project.name} (${project.id})`;
        return {
          title: { en: `Delete project ${project.name}`, ja: `プロジェクト「${project.name}」を削除` },
          destination: { en: "production CRM", ja: "本番の CRM" },
          irreversible: true,
          details: [{ label: { en: "Project", ja: "プロジェクト" }, value, risk: true }],
        };
      },
      checks: ({ project_id, expected_items }) => {
        const actual = known(projects, project_id).items;
        return [{ label: { en: "Items", ja: "項目数" }, claimed: expected_items, actual }];
      },
      preconditions: ({ project_id }) => ({ version: projects.find(project_id)?.version ?? "gone" }),
    },
    ({ project_id }, ctx, { approvalId }) => {
      const project = projects.delete(project_id, callerName(ctx), approvalId);
      return project === undefined ? notFound(project_id) : said(`Deleted ${project.name} (${project.id}).`);
    },
  );
}

/** Tier 2: a change that can be changed back. */
function addUpdateProject(server: McpServer, gate: Gate, projects: Projects): void {
  gate.guard(
    {
      server,
      tool: "update_project",
      tier: 2,
      title: "Rename a project",
      description: "Gives a project another name.",
      inputSchema: z.object({ project_id: z.string(), name: z.string().trim().min(1).max(80) }),
      annotations: { idempotentHint: true, openWorldHint: false },
    },
    ({ project_id, name }, ctx) => {
      const project = projects.rename(project_id, name, callerName(ctx));
      return project === undefined ? notFound(project_id) : said(`${project.id} is now called ${project.name}.`);
    },
  );
}

/** Tier 0: reads. Deleted projects stay listed as such, with every execution, so that it shows what really ran. */
function addListProjects(server: McpServer, gate: Gate, projects: Projects): void {
  gate.guard(
    {
      server,
      tool: "list_projects",
      tier: 0,
      title: "List projects",
      description: "Lists every project, deleted ones too, and each change that was made.",
      inputSchema: z.object({}),
    },
    () => {
      const data = projects.all();
      return { content: [{ type: "text", text: JSON.stringify(data, null, 2) }], structuredContent: data };
    },
  );
}

function known(projects: Projects, id: string) {
  const project = projects.find(id);
  if (project === undefined) throw new Error(`There is no project ${id}.`);
  return project;
}

function callerName(ctx: ServerContext): string {
  const sub = ctx.http?.authInfo?.extra?.["sub"];
  return typeof sub === "string" ? sub : "unknown";
}

function said(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

function notFound(id: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text: `There is no project ${id}.` }] };
}

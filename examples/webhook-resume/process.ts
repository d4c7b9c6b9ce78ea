import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createApiClient, createResumer, type Resumed, type WebhookEvent } from "@countersign/mcp";
import { signWebhookForTest } from "@countersign/mcp/fake";
import { createTokenVerifier } from "../crm-server/tokens";
import { connectAgent, type Era } from "../support/agent";
import { serveMcp } from "../support/serve";
import type { Choice, Setting } from "../support/setting";
import { openJobs } from "./jobs";
import { serveWebhooks } from "./receiver";
import { createDeletion, createProjectServer, type Projects } from "./server";

/** An endpoint that is registered at Countersign for `http://127.0.0.1:PORT/webhooks`. Without one the check makes the requests itself. */
export type Webhooks = { port: number; secret: string };

type Play = {
  setting: Setting & { webhooks?: Webhooks };
  era: Era;
  file: string;
  projects: ExampleProjects;
};
export type ExampleProjects = Projects & { ids: readonly [string, string, string, string] };
export type Process = Awaited<ReturnType<typeof startProcess>>;

/** Runs one process of the server, from its start to its end. */
export async function withProcess<T>(play: Play, use: (process: Process) => Promise<T>): Promise<T> {
  const process = await startProcess(play);
  try {
    return await use(process);
  } finally {
    await process.stop();
  }
}

/** What the server's own `main` would do: open the jobs, sweep, and serve MCP clients and webhooks. */
async function startProcess({ setting, era, file, projects }: Play) {
  const { caller, webhooks = { port: 0, secret: newSecret() } } = setting;
  const jobs = await openJobs(file);
  const inbox = { link: true };
  const resumer = createResumer({ ...serviceOf(setting), jobs, inbox, maxApprovalsPerWorkflow: 10 });
  const tool = createDeletion(resumer, projects);
  const atStart = await resumer.sweep();
  const arrivals = createArrivals();
  const receiver = await serveWebhooks({ resumer, ...webhooks, onHandled: arrivals.note });
  const token = randomBytes(24).toString("base64url");
  const verifier = createTokenVerifier({ [token]: { ...caller, clientId: "example-agent" } });
  const served = await serveMcp({ createServer: () => createProjectServer(tool, jobs), verifier });
  const agent = await connectAgent(served.url, token, era);
  const post = poster(receiver, webhooks.secret);
  return {
    ...{ setting, agent, projects, jobs, receiver, atStart, post },
    person: async ({ id, text }: { id: string; text: string }, choice: Choice) =>
      await setting.person({ approvalId: id, message: text }, choice),
    /** Resolves when the event of what `act` does has arrived and was worked off. */
    async arrival(id: string, type: string, act: () => Promise<void>) {
      const arrived = setting.webhooks && arrivals.next(id, `approval.${type}`);
      await act();
      if (arrived === undefined) await post(acceptedBody(id, 2, type));
      await arrived;
    },
    /** Asks for a deletion. It is answered at once. */
    async ask(projectId: string) {
      const asked = await agent.call("delete_project", { project_id: projectId });
      assert.equal(asked.ending, "runs_when_approved", asked.text);
      return { id: asked.approvalId ?? "", text: asked.text };
    },
    /** Posts that an approval of the same client was accepted which this server knows nothing of. */
    async postForeign(): Promise<number> {
      const action = { tool: "delete_project", arguments: { project_id: `q_${randomBytes(4).toString("hex")}` } };
      const api = createApiClient(setting);
      const { id } = await api.mint({ caller, action, presentation: { title: "Asked for elsewhere" } });
      const status = await post(acceptedBody(id));
      await api.withdraw(id, { reason: "aborted" });
      return status;
    },
    async stop() {
      await agent.close();
      await served.close();
      await receiver.close();
    },
  };
}

const serviceOf = ({ url, apiKey, clientId }: Setting) => ({ url, apiKey, clientId });

/** Posts a body as it was signed, unless something else is `sent`, and resolves when it has been worked off. */
function poster(receiver: { url: string; settled(): Promise<void> }, own: string) {
  return async (body: string, { secret = own, sent = body, ...more }: Posting = {}): Promise<number> => {
    const headers = signWebhookForTest({ body, secret, ...more });
    const { status } = await fetch(receiver.url, { method: "POST", headers, body: sent });
    await receiver.settled();
    return status;
  };
}

type Posting = { secret?: string; timestamp?: number; sent?: string };

function createArrivals() {
  const waiting = new Map<string, () => void>();
  return {
    note: (event: WebhookEvent, _resumed: Resumed) => {
      if (event.kind === "approval") waiting.get(`${event.data.approvalId} ${event.type}`)?.();
    },
    next: (id: string, type: string) => new Promise<void>((resolve) => void waiting.set(`${id} ${type}`, resolve)),
  };
}

/** What anybody who has the endpoint's secret could say. */
export function acceptedBody(approvalId: string, approvalSeq = 2, type = "accepted"): string {
  const data = {
    clientId: "cli_whoever",
    approvalId,
    approvalSeq,
    tool: "delete_project",
    actionDigest: `sha256:${"0".repeat(64)}`,
    status: type === "declined" ? "declined" : "accepted",
  };
  return JSON.stringify({ type: `approval.${type}`, timestamp: new Date().toISOString(), data });
}

export const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;

import { randomBytes } from "node:crypto";
import { verifyWebhook } from "@countersign/mcp";
import { signWebhookForTest } from "@countersign/mcp/fake";
import { eventBodyOf } from "@countersign/mcp/fake/webhook";
import { createResumer, type Job, type JobEnd, type JobStore, type ResumerOptions } from "@countersign/mcp/resumer";
import type { WebhookEvent } from "@countersign/mcp/webhook";
import { onTestFinished } from "vitest";
import { type FakeService, startFakeService } from "./fake-service";

export const alice = { iss: "https://as.example.com", sub: "alice", clientId: "chat-app" };
const secret = `whsec_${randomBytes(32).toString("base64")}`;

/** Keeps jobs as a database would: what goes in is copied as JSON, and so is what comes out. */
export function memoryJobs() {
  const rows = new Map<string, { job: string; end?: JobEnd }>();
  const parsed = (job: string) => JSON.parse(job) as Job;
  const isOpen = (row: { end?: JobEnd } | undefined) => row !== undefined && row.end === undefined;
  const store: JobStore = {
    async put(job) {
      rows.set(job.approvalId, { job: JSON.stringify(job) });
    },
    async find(approvalId) {
      const row = rows.get(approvalId);
      return row !== undefined && isOpen(row) ? parsed(row.job) : undefined;
    },
    open: async () => [...rows.values()].filter(isOpen).map(({ job }) => parsed(job)),
    async end(approvalId, end) {
      const row = rows.get(approvalId);
      if (row !== undefined) rows.set(approvalId, { ...row, end });
    },
  };
  return { ...store, rows, endOf: (approvalId: string) => rows.get(approvalId)?.end };
}

export type Args = { project_id: string; expected_items: number };
export const apollo: Args = { project_id: "p_42", expected_items: 3 };

type Options = Partial<Omit<ResumerOptions, "url" | "apiKey">> & {
  spec?: Partial<Parameters<ReturnType<typeof createResumer>["guard"]>[0]>;
  run?: (args: Args) => string | undefined | Promise<string | undefined>;
};

/** One replica of a server with the tool `delete_project`; a second one may share jobs and service. */
export function replicaOf(service: FakeService, jobs: JobStore, { spec = {}, run, ...options }: Options = {}) {
  const ran: { args: Args; approvalId: string; caller: unknown }[] = [];
  const events: unknown[] = [];
  const { url, apiKey, clientId } = service;
  const onEvent = (event: unknown) => void events.push(event);
  const resumer = createResumer({
    url,
    apiKey,
    clientId,
    jobs,
    onEvent,
    maxApprovalsPerWorkflow: 1000,
    inbox: { link: true },
    ...options,
  });
  const tool = resumer.guard<Args>(
    {
      tool: "delete_project",
      presentation: ({ project_id }) => ({ title: `Delete ${project_id}`, irreversible: true }),
      ...(spec as object),
    },
    async (args, { caller }, { approvalId }) => {
      ran.push({ args: structuredClone(args), approvalId, caller });
      return run === undefined ? `Deleted ${args.project_id}.` : await run(args);
    },
  );
  return { resumer, tool, ran, events };
}

/** A replica beside the service's stand-in, and the events that the service would send. */
export async function setJobsStage(options: Options = {}) {
  const service = await startFakeService();
  onTestFinished(service.close);
  const jobs = memoryJobs();
  const replica = replicaOf(service, jobs, options);
  return {
    service,
    jobs,
    ...replica,
    async ask(args: Args = apollo): Promise<string> {
      const asked = await replica.tool.ask(args, { caller: alice });
      return String(asked._meta["countersign/approvalId"]);
    },
    /** The newest event of an approval, as it arrives. */
    event: (id: string) => eventOf(service, id),
  };
}

export function eventOf(service: FakeService, id: string): WebhookEvent {
  const approval = service.approvals.get(id);
  if (approval === undefined) throw new Error(`There is no approval ${id}.`);
  return verified(eventBodyOf(approval, service.clientId));
}

/** An event that says what it likes: from another deployment, or out of a forged row. */
export function verified(body: string): WebhookEvent {
  return verifyWebhook({ body, headers: signWebhookForTest({ body, secret }), secret });
}

export function acceptedEvent(approvalId: string, approvalSeq = 2): WebhookEvent {
  const data = {
    clientId: "cli_crm",
    approvalId,
    approvalSeq,
    tool: "delete_project",
    actionDigest: `sha256:${"ab".repeat(32)}`,
    status: "accepted",
    decision: "accept",
    actBy: "2099-01-01T00:00:00Z",
    receipt: "a.b.c",
  };
  return verified(JSON.stringify({ type: "approval.accepted", timestamp: "2026-12-01T12:00:00Z", data }));
}

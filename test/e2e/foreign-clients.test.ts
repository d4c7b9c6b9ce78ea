import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CrmServer, startCrmServer } from "@/examples/crm-server/start";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, type Person, signIn } from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { type Foreign, installForeign } from "@/test/support/foreign";
import { startServer } from "@/test/support/server";

const token = "token-of-ada-0123456789abcdef";
let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let crm: CrmServer;
let ada: Person;
let foreign: Foreign;
let home: string;

beforeAll(async () => {
  foreign = installForeign();
  home = await mkdtemp(path.join(tmpdir(), "mcpdo-"));
  server = await startServer({ databaseUrl: await createDatabase() });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  const api = await addTestClient(service, { declineCooldownSeconds: 0 });
  ada = await addPerson(service, "Ada");
  const tokens = { [token]: { iss: ada.iss, sub: ada.sub, clientId: "inspector" } };
  crm = await startCrmServer({ gate: { url: server.url, apiKey: api.apiKey, maxApprovalsPerWorkflow: 100 }, tokens });
}, 300_000);
afterAll(async () => {
  await mcpdo(["daemon", "stop"]);
  await crm?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
  await rm(home, { recursive: true, force: true });
});

const mcpdo = (args: string[]) => foreign.mcpdo(args, home);
const executions = () => crm.projects.all().executions.length;

describe.each(["modern", "legacy"])("Inspector's mcpdo, %s era", (era) => {
  it("is shown the link, and the tool runs once after the person accepted", async () => {
    const connection = await connect(era, "both");
    const before = executions();
    const pending = await callDelete(connection);
    expect(pending).toMatchObject({
      mode: "url",
      url: expect.stringMatching(new RegExp(`^${server.url}/a/apr_[0-9a-z]{26}$`)),
    });
    expect(executions()).toBe(before);
    await decideAs(service, (await signIn(service, ada)).session, idIn(pending.url), "accept", {
      code: codeIn(pending.message),
    });
    const done = await mcpdo([
      "--format",
      "json",
      "--connection",
      connection,
      "elicitation/respond",
      pending.elicitationId,
      "--done",
    ]);
    expect(done.stdout).toContain("Deleted");
    expect(executions()).toBe(before + 1);
  });

  it("that closes the prompt runs nothing, and the request stays open", async () => {
    const connection = await connect(era, "both");
    const before = executions();
    const pending = await callDelete(connection);
    const done = await mcpdo([
      "--format",
      "json",
      "--connection",
      connection,
      "elicitation/respond",
      pending.elicitationId,
      "--cancel",
    ]);
    expect(done.stdout).toContain("client_cancelled");
    expect(executions()).toBe(before);
  });

  it.each(["off", "form"])("that declares %s elicitation is told of the inbox", async (elicit) => {
    const connection = await connect(era, elicit);
    const before = executions();
    const { stdout } = await mcpdo([
      "--format",
      "json",
      "--connection",
      connection,
      "tools/call",
      "delete_project",
      ...target(),
    ]);
    expect(stdout).toContain("ask_in_inbox");
    expect(executions()).toBe(before);
  });
});

let connections = 0;

async function connect(era: string, elicit: string): Promise<string> {
  connections += 1;
  const name = `c${connections}`;
  const header = `Authorization: Bearer ${token}`;
  const { code, stdout, stderr } = await mcpdo([
    "--connection",
    name,
    "connect",
    crm.url,
    "--era",
    era,
    "--elicit",
    elicit,
    "--header",
    header,
  ]);
  if (code !== 0) throw new Error(`mcpdo connect: ${stdout} ${stderr}`);
  return name;
}

type Pending = { elicitationId: string; mode: string; url: string; message: string };

/** Calls the guarded tool for a project that is still there. */
async function callDelete(connection: string): Promise<Pending> {
  const { stdout, stderr } = await mcpdo([
    "--format",
    "json",
    "--connection",
    connection,
    "tools/call",
    "delete_project",
    ...target(),
  ]);
  const pending = stdout.startsWith("{")
    ? (JSON.parse(stdout) as { elicitationPending?: Pending }).elicitationPending
    : undefined;
  if (pending === undefined) throw new Error(`no prompt: ${stdout} ${stderr}`);
  return pending;
}

function target(): string[] {
  const project = crm.projects.all().projects.find((candidate) => !("deletedAt" in candidate && candidate.deletedAt));
  if (project === undefined) throw new Error("no project is left");
  return [`project_id:=${project.id}`, `expected_items:=${project.items}`];
}

const idIn = (url: string) => url.split("/a/")[1] ?? "";
const codeIn = (message: string) => /code is (\d\d)/.exec(message)?.[1] ?? "";

import { pino } from "pino";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { takeBack } from "@/lib/approvals/take-back";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { csrfToken } from "@/lib/sessions/csrf";
import type { PersonSession } from "@/lib/sessions/session";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createDatabase } from "@/test/support/database";
import { expireIn } from "@/test/support/deadline";
import { decideAs } from "@/test/support/deciding";
import { freePorts } from "@/test/support/free-port";
import { openPythonClient, runPython } from "@/test/support/python-client";
import { startServer } from "@/test/support/server";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let client: TestClient;
let ada: Person;
let session: PersonSession;

// The built process answers Python over its port; the person decides through the code of the page's form.
beforeAll(async () => {
  server = await startServer({ databaseUrl: await createDatabase() });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  client = await addTestClient(service, {
    declineCooldownSeconds: 0,
    maxMintsPerSubjectPerHour: 500,
    maxPendingPerSubject: 50,
  });
  ada = await addPerson(service, "Ada");
  ({ session } = await signIn(service, ada));
});
afterAll(async () => {
  await stopService?.();
  await server?.kill("SIGTERM");
});

const env = () => ({ COUNTERSIGN_API_KEY: client.apiKey, COUNTERSIGN_URL: server.url });
const asAda = () => ["--iss", ada.iss, "--sub", ada.sub];
const idIn = (line: string) => /\/a\/(apr_[0-9a-z]{26})$/.exec(line)?.[1];
const codeIn = (text: string) => /code is (\d\d)/.exec(text)?.[1] ?? "";

/** The example, run to its end; `act` is called once it shows its link, with the id and the code in the message. */
function runExample(act: (id: string, code: string) => Promise<unknown>) {
  let message = "";
  let acting: Promise<unknown> = Promise.resolve();
  const onLine = (line: string) => {
    const id = idIn(line);
    if (id !== undefined) acting = act(id, codeIn(message));
    message += line;
  };
  const finished = runPython("examples/python/delete_project.py", asAda(), { env: env(), onLine });
  return finished.then(async (result) => {
    await acting;
    return result;
  });
}

/** A call of the client up to the link: `go` lets it wait, after what the test did to the approval meanwhile. */
async function ask(options: Record<string, unknown> = {}, more: Record<string, unknown> = {}, person = ada) {
  const python = await openPythonClient({ url: server.url, apiKey: client.apiKey });
  onTestFinished(() => python.close());
  const caller = { iss: person.iss, sub: person.sub, clientId: "chat-app" };
  const action = { tool: "delete_project", arguments: { project_id: crypto.randomUUID(), ratio: 0.1 } };
  const presentation = { title: "Delete project" };
  const terms = { requirements: { matchCode: false }, ...options };
  const again = () => python.ask({ do: "run", action, args: [caller, presentation], options: terms, ...more });
  const asked = await again();
  const { link } = asked;
  if (link === undefined) throw new Error(`it asked nobody: ${asked.raised?.message}`);
  const call = (name: string, ...args: unknown[]) => python.ask({ do: name, args: [link.id, ...args], options: {} });
  return { id: link.id, action, caller, call, again, go: (shown = true) => python.ask({ shown }) };
}

describe("the Python client", () => {
  it("I5: runs once what the person accepted, and the approval is spent", async () => {
    const finished = await runExample((id, code) => decideAs(service, session, id, "accept", { code }));
    expect(finished).toMatchObject({ code: 0, stderr: "" });
    expect(finished.stdout).toMatch(/\nRan once: Apollo is deleted \(apr_[0-9a-z]{26}\)\n$/);
  });

  it("I5: of two that wait for one approval exactly one runs, and the other is told that it has run", async () => {
    const links: string[] = [];
    let release = () => {};
    const bothAsked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const act = async (id: string, code: string) => {
      links.push(id);
      if (links.length < 2) return bothAsked;
      release();
      return decideAs(service, session, id, "accept", { code });
    };
    const finished = await Promise.all([runExample(act), runExample(act)]);
    expect(new Set(links).size).toBe(1);
    expect(finished.map(({ code }) => code).sort()).toEqual([0, 1]);
    expect(finished.find(({ code }) => code === 1)?.stdout).toContain("Nothing ran: AlreadyRun");
  });

  it("I3: runs the arguments that were shown, though the caller's own object changed while the person read", async () => {
    const { id, action, call, go } = await ask();
    await decideAs(service, session, id, "accept", { note: "only this one" });
    const answer = await go();
    expect(answer.returned).toBe("ran");
    expect(answer.runs).toEqual([{ approvalId: id, arguments: action.arguments, note: "only this one" }]);
    expect((await call("status")).returned).toMatchObject({ next: "done", outcome: "succeeded" });
  });

  it.each([
    ["decline", "Declined"],
    ["cancel", "Cancelled"],
  ] as const)("tells a %s apart, with the note that was typed", async (choice, type) => {
    const { id, go } = await ask();
    await decideAs(service, session, id, choice, { note: "I meant Artemis" });
    expect(await go()).toMatchObject({ raised: { type, approval_id: id, note: "I meant Artemis" }, runs: [] });
  });

  it("tells that the person did not ask for this", async () => {
    // Of her own, since the service asks her nothing more for this client.
    const eve = await addPerson(service, "Eve");
    const { id, go } = await ask({}, {}, eve);
    await decideAs(service, (await signIn(service, eve)).session, id, "not_requested");
    expect(await go()).toMatchObject({ raised: { type: "Declined", reason: "not_requested" }, runs: [] });
  });

  it("I6: an approval that nobody answers in time runs nothing", async () => {
    const { id, go } = await ask();
    await expireIn(service, id, -1);
    expect(await go()).toMatchObject({ raised: { type: "Expired", approval_id: id }, runs: [] });
  });

  it("stops waiting when its own time is up, and the same call made again runs on the decision that came later", async () => {
    const { id, go, again } = await ask({ timeout_seconds: 0 });
    expect(await go()).toMatchObject({ raised: { type: "StillPending", approval_id: id }, runs: [] });
    await decideAs(service, session, id, "accept");
    expect(await again()).toMatchObject({ returned: "ran", runs: [{ approvalId: id }] });
  });

  it("I5: is granted again with the same token, and with no other", async () => {
    const { id, action, caller, call, go } = await ask({ timeout_seconds: 0 });
    await go();
    await decideAs(service, session, id, "accept");
    const consume = (token: string) => call("consume", action, caller, token.repeat(43));
    expect((await consume("A")).returned).toMatchObject({ granted: true, replayed: false });
    expect((await consume("A")).returned).toMatchObject({ granted: true, replayed: true });
    expect((await consume("B")).raised).toMatchObject({ type: "Refused", code: "already_consumed", status: 409 });
    expect((await call("report_outcome", "A".repeat(43), "failed", "E42")).returned).toBeNull();
    expect((await call("status")).returned).toMatchObject({ outcome: "failed", outcomeCode: "E42" });
  });

  it("takes the request back where the MCP client declined to show it", async () => {
    const { call, go } = await ask();
    expect(await go(false)).toMatchObject({ raised: { type: "Withdrawn", reason: "client_declined" }, runs: [] });
    expect((await call("status")).returned).toMatchObject({ status: "withdrawn", reason: "client_declined" });
  });

  it("does not run what the person took back", async () => {
    const { id, go } = await ask();
    await decideAs(service, session, id, "accept");
    const csrf = csrfToken(service.secrets, { sid: session.sid, purpose: "take_back", target: id });
    await takeBack(service, session, id, csrf);
    expect(await go()).toMatchObject({ raised: { type: "Withdrawn", reason: "taken_back" }, runs: [] });
  });

  it("does not run where the preconditions have changed while the person read", async () => {
    const { id, call, go } = await ask({}, { etags: ["v1", "v2"] });
    await decideAs(service, session, id, "accept");
    expect(await go()).toMatchObject({ raised: { type: "Refused", code: "stale", approval_id: id }, runs: [] });
    expect((await call("status")).returned).toMatchObject({ consumed: false });
  });

  it("reports what failed as failed, and raises it", async () => {
    const { id, call, go } = await ask({}, { fails: true });
    await decideAs(service, session, id, "accept");
    const { raised, runs } = await go();
    expect([raised?.type, raised?.message, runs?.length]).toEqual(["RuntimeError", "the tool failed", 1]);
    expect((await call("status")).returned).toMatchObject({ next: "done", outcome: "failed" });
  });

  it("I13: runs nothing where the service cannot be reached, or the key is no good", async () => {
    const [port] = await freePorts(1);
    const script = "examples/python/delete_project.py";
    const away = await runPython(script, asAda(), { env: { ...env(), COUNTERSIGN_URL: `http://127.0.0.1:${port}` } });
    expect([away.code, away.stdout]).toEqual([1, "Nothing ran: Unreachable: no connection\n"]);
    const other = await runPython(script, asAda(), { env: { ...env(), COUNTERSIGN_API_KEY: "csk_wrong" } });
    expect([other.code, other.stdout]).toEqual([1, "Nothing ran: Refused: refused: unauthorized\n"]);
  });
});

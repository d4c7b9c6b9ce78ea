import { newApprovalId } from "@countersign/mcp/fake/approval";
import { createResumer } from "@countersign/mcp/resumer";
import { createTurns } from "@countersign/mcp/resumer/turns";
import { describe, expect, it } from "vitest";
import { acceptedEvent, alice, apollo, eventOf, memoryJobs, replicaOf, setJobsStage, verified } from "./webhook-jobs";

const ended = (ending: string) => ({ kind: "ended", ran: false, ending });

describe("a tool that is answered at once", () => {
  it("asks, keeps what is to run, and says where to decide; nothing ran", async () => {
    const { service, jobs, tool, ran } = await setJobsStage();
    const asked = await tool.ask(apollo, { caller: alice, mcpClient: { name: "chat", version: "1" } });
    const [approval] = service.approvals.values();
    expect(asked._meta).toEqual({
      "countersign/ending": "runs_when_approved",
      "countersign/approvalId": approval?.id,
    });
    expect(asked.isError).toBe(true);
    expect(asked.content[0]?.text).toMatch(/^"delete_project" did not run\. It waits for the user's approval/);
    expect(asked.content[0]?.text).toContain(`${service.url}/a/${approval?.id}`);
    expect(service.seen[0]?.body).toMatchObject({ reuse: "live", mcpClient: { name: "chat", version: "1" } });
    const open = await jobs.open();
    expect(open).toEqual([
      {
        approvalId: approval?.id,
        tool: "delete_project",
        arguments: apollo,
        caller: alice,
        salt: approval?.salt,
        effectiveRequirements: {},
      },
    ]);
    expect(ran).toEqual([]);
  });

  it("has annotations and a tier like any tool of tier 3, and a name once", async () => {
    const { resumer, tool } = await setJobsStage();
    expect(tool.annotations).toEqual({ readOnlyHint: false, destructiveHint: true });
    expect(tool._meta).toEqual({ "countersign/tier": 3 });
    const spec = { tool: "delete_project", presentation: () => ({ title: "x" }) };
    expect(() => resumer.guard(spec, () => undefined)).toThrow(TypeError);
    expect(() => resumer.guard({ ...spec, tool: "a b" }, () => undefined)).toThrow(TypeError);
    expect(() => resumer.guard({ ...spec, tool: "other", ttlSeconds: 1 }, () => undefined)).toThrow(RangeError);
  });

  it("I13: without a caller, and with arguments that JSON would alter, nobody is asked", async () => {
    const { service, tool } = await setJobsStage();
    const nobody = await tool.ask(apollo, { caller: undefined });
    expect(nobody._meta["countersign/ending"]).toBe("no_caller");
    const inexact = await tool.ask({ ...apollo, expected_items: -0 }, { caller: alice });
    expect(inexact._meta["countersign/ending"]).toBe("unfit_arguments");
    expect(service.seen).toEqual([]);
  });

  it("I13: a job that cannot be kept is not asked for: the request is taken back", async () => {
    const jobs = { ...memoryJobs(), put: () => Promise.reject(new Error("disk full")) };
    const { service, tool, ran } = await setJobsStage({ jobs });
    const asked = await tool.ask(apollo, { caller: alice });
    expect(asked._meta["countersign/ending"]).toBe("internal");
    expect([...service.approvals.values()].map(({ status, reason }) => [status, reason])).toEqual([
      ["withdrawn", "aborted"],
    ]);
    expect(ran).toEqual([]);
  });

  it("a call that is cancelled before its job is kept leaves neither job nor request", async () => {
    const call = new AbortController();
    const onEvent = ({ type }: { type: string }) => void (type === "asked" && call.abort());
    const { service, jobs, tool } = await setJobsStage({ onEvent });
    const asked = await tool.ask(apollo, { caller: alice, signal: call.signal });
    expect(asked._meta["countersign/ending"]).toBe("interrupted");
    expect(await jobs.open()).toEqual([]);
    expect([...service.approvals.values()].map(({ status }) => status)).toEqual(["withdrawn"]);
  });

  it("runs at once what was accepted already, and what was accepted before the job was kept", async () => {
    const { service, jobs, tool, ran, ask } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    const again = await tool.ask(apollo, { caller: alice });
    expect([again.isError, again.content[0]?.text]).toEqual([false, "Deleted p_42."]);
    expect(again._meta).toEqual({ "countersign/approvalId": id });
    expect(ran).toHaveLength(1);

    const slow = {
      ...jobs,
      put: async (job: Parameters<typeof jobs.put>[0]) => {
        await service.decide(job.approvalId, "accept");
        // Its event comes and finds no job.
        expect(await later.resumer.heed(eventOf(service, job.approvalId))).toEqual({ kind: "not_ours" });
        await jobs.put(job);
      },
    };
    const later = replicaOf(service, slow);
    const second = await later.tool.ask(apollo, { caller: alice });
    expect([second.isError, second.content[0]?.text]).toEqual([false, "Deleted p_42."]);
    expect(later.ran).toHaveLength(1);
  });
});

describe("an event is a wake-up", () => {
  it("I5: the accept runs once, with the kept action, and every later or repeated event runs nothing", async () => {
    const { service, jobs, resumer, ran, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept", { note: "go on" });
    const accepted = event(id);
    const first = await resumer.heed(accepted);
    const text = "Deleted p_42.\nThe user's note, in their own words: “go on”";
    expect(first).toEqual({ kind: "ended", ran: true, outcome: "succeeded", text });
    expect(jobs.endOf(id)).toEqual({ ran: true, outcome: "succeeded", text });
    expect(ran).toEqual([{ args: apollo, approvalId: id, caller: alice }]);
    expect(service.approvals.get(id)?.outcome).toBe("succeeded");
    for (const again of [accepted, event(id), accepted])
      expect(await resumer.heed(again)).toEqual({ kind: "not_ours" });
    expect(await resumer.sweep()).toEqual([]);
    expect([ran.length, service.count("consume")]).toEqual([1, 1]);
  });

  it("I1: an event that says accepted decides nothing: the service is asked, and it still waits", async () => {
    const { service, jobs, resumer, ran, ask } = await setJobsStage();
    const id = await ask();
    for (const seq of [2, 999]) expect(await resumer.heed(acceptedEvent(id, seq))).toEqual({ kind: "waiting" });
    expect(await jobs.open()).toHaveLength(1);
    expect([ran.length, service.count("consume")]).toEqual([0, 0]);
  });

  it("about an approval that was not asked for here, Countersign is not even asked", async () => {
    const { service, resumer, ran } = await setJobsStage();
    // Accepted and runnable, asked for under the same key by somebody else.
    const other = replicaOf(service, memoryJobs());
    const asked = await other.tool.ask(apollo, { caller: alice });
    const foreign = String(asked._meta["countersign/approvalId"]);
    await service.decide(foreign, "accept");
    const before = service.seen.length;
    for (const event of [acceptedEvent(newApprovalId()), acceptedEvent(foreign), eventOf(service, foreign)])
      expect(await resumer.heed(event)).toEqual({ kind: "not_ours" });
    expect([service.seen.length - before, ran.length, service.count("consume")]).toEqual([0, 0, 0]);
  });

  it("a store that finds another job than was asked for, as one that ignores case, finds none", async () => {
    const jobs = memoryJobs();
    const find = async () => (await jobs.open())[0];
    const { service, resumer, ran, ask } = await setJobsStage({ jobs: { ...jobs, find } });
    const id = await ask();
    await service.decide(id, "accept");
    expect(await resumer.heed(acceptedEvent(newApprovalId()))).toEqual({ kind: "not_ours" });
    expect(ran).toEqual([]);
  });

  it("events of other kinds wake nothing, whatever they hold", async () => {
    const { service, resumer, ran, ask } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    const timestamp = "2026-12-01T12:00:00Z";
    const data = { clientId: "cli_crm", endpointId: "whe_1", approvalId: id, approvalSeq: 2 };
    for (const type of ["webhook.test", "client.frozen", "later.kind"])
      expect(await resumer.heed(verified(JSON.stringify({ type, timestamp, data })))).toEqual({ kind: "not_ours" });
    expect(ran).toEqual([]);
  });

  it("a decline ends the job, and a stale accept after it runs nothing; each ending is its own, told to its hook", async () => {
    const told: unknown[] = [];
    const onDecline = (hook: unknown) => void told.push(hook);
    const { service, jobs, resumer, ran, ask, event } = await setJobsStage({ spec: { onDecline } });
    const id = await ask();
    await service.decide(id, "decline", { note: "no" });
    expect(await resumer.heed(event(id))).toMatchObject(ended("declined"));
    expect(await resumer.heed(acceptedEvent(id, 3))).toEqual({ kind: "not_ours" });
    expect(jobs.endOf(id)).toMatchObject({ ran: false, ending: "declined", text: expect.stringContaining("“no”") });
    const about = { ctx: { caller: alice }, args: apollo };
    expect(told).toEqual([{ ...about, ending: "declined", approvalId: id, note: "no" }]);

    const endings: [string, (id: string) => Promise<void> | void][] = [
      ["cancelled", (next) => service.decide(next, "cancel")],
      ["expired", (next) => service.end(next, "expired")],
      ["withdrawn_frozen", (next) => service.end(next, "withdrawn", "frozen")],
      ["withdrawn_taken_back", (next) => service.end(next, "withdrawn", "taken_back")],
    ];
    for (const [ending, end] of endings) {
      const next = await ask();
      await end(next);
      expect(await resumer.heed(event(next))).toMatchObject(ended(ending));
    }
    const lapsed = await ask();
    await service.decide(lapsed, "accept");
    service.lapse(lapsed);
    expect(await resumer.heed(event(lapsed))).toMatchObject(ended("lapsed"));
    expect([ran.length, service.count("consume"), (await jobs.open()).length]).toEqual([0, 0, 0]);
  });

  it("I14: what no event told is found by a sweep, also by another process after a restart", async () => {
    const { service, jobs, ask } = await setJobsStage();
    const [first, second, third] = [
      await ask(),
      await ask({ ...apollo, project_id: "p_43" }),
      await ask({ ...apollo, project_id: "p_44" }),
    ];
    await service.decide(first, "accept");
    await service.decide(second, "decline");
    const restarted = replicaOf(service, jobs);
    expect(await restarted.resumer.sweep()).toMatchObject([
      { approvalId: first, kind: "ended", ran: true, outcome: "succeeded" },
      { approvalId: second, ...ended("declined") },
      { approvalId: third, kind: "waiting" },
    ]);
    expect(restarted.ran.map(({ approvalId }) => approvalId)).toEqual([first]);
  });
});

describe("what runs is what was kept, and only with a receipt for it", () => {
  const accepted = async (options: Parameters<typeof setJobsStage>[0] = {}) => {
    const stage = await setJobsStage(options);
    const id = await stage.ask();
    await stage.service.decide(id, "accept");
    return { ...stage, id, wake: () => stage.resumer.heed(stage.event(id)) };
  };

  it.each([
    [
      "another person",
      { sub_id: { format: "iss_sub", iss: alice.iss, sub: "mallory" }, authn: undefined },
      "unverifiable",
    ],
    ["another caller", { caller: { iss: alice.iss, sub: "mallory" } }, "unverifiable"],
    ["another approval", { approval_id: newApprovalId() }, "unverifiable"],
    ["another client", { aud: "cli_other" }, "unverifiable"],
    ["another service", { iss: "https://elsewhere.example.com" }, "unverifiable"],
    ["another action", { action_digest: `sha256:${"ab".repeat(32)}` }, "action_mismatch"],
    ["another tool", { tool: "read_project" }, "action_mismatch"],
  ])("I17: a receipt of %s: a row that says accepted is not enough", async (_, claims, ending) => {
    const { service, resumer, ran, ask, event } = await setJobsStage();
    const id = await ask();
    Object.assign(service.overrides, { claims });
    await service.decide(id, "accept");
    expect(await resumer.heed(event(id))).toMatchObject(ended(ending));
    expect([ran.length, service.count("consume")]).toEqual([0, 0]);
  });

  it("I17: a receipt that was changed after it was signed does not verify", async () => {
    const { service, id, wake, ran } = await accepted();
    const approval = service.approvals.get(id);
    const [header, payload, signature = ""] = (approval?.receipt ?? "").split(".");
    const first = signature.startsWith("A") ? "B" : "A";
    if (approval) approval.receipt = [header, payload, first + signature.slice(1)].join(".");
    expect(await wake()).toMatchObject(ended("unverifiable"));
    expect([ran.length, service.count("consume")]).toEqual([0, 0]);
  });

  it("I3: arguments that were changed in the store fit no receipt; neither do a caller and a tool", async () => {
    for (const change of [
      { arguments: { ...apollo, project_id: "p_1" } },
      { caller: { ...alice, sub: "mallory" } },
      { salt: "AAAAAAAAAAAAAAAAAAAAAA" },
    ]) {
      const { service, jobs, wake, ran, id } = await accepted();
      const job = await jobs.find(id);
      if (job) await jobs.put({ ...job, ...change });
      expect(await wake()).toMatchObject(ended("caller" in change ? "invalid_state" : "action_mismatch"));
      expect([ran.length, service.count("consume")]).toEqual([0, 0]);
    }
  });

  it("I12, I13: checks and preconditions are read again: what has changed meanwhile is stale", async () => {
    let etag = "1";
    let items = 3;
    const spec = {
      preconditions: () => ({ etag }),
      checks: () => [{ label: "Items", claimed: 3, actual: items }],
    };
    const first = await accepted({ spec });
    items = 4;
    expect(await first.wake()).toMatchObject(ended("stale"));
    items = 3;
    const second = await accepted({ spec });
    etag = "2";
    expect(await second.wake()).toMatchObject(ended("stale"));
    expect([...first.ran, ...second.ran]).toEqual([]);
  });

  it("I15: a caller who may not any more gets nothing run; where that cannot be known, it is looked at later", async () => {
    const gone = await accepted({ isCurrent: () => false });
    expect(await gone.wake()).toMatchObject(ended("caller_gone"));
    let isDown = true;
    const unsure = await accepted({
      isCurrent: () => (isDown ? Promise.reject(new Error("directory is down")) : true),
    });
    expect(await unsure.wake()).toEqual({ kind: "later", ending: "internal" });
    isDown = false;
    expect(await unsure.wake()).toMatchObject({ kind: "ended", ran: true });
    expect([gone.service.count("consume"), unsure.service.count("consume")]).toEqual([0, 1]);
  });

  it("the handler may change its arguments; the kept ones stay as they were", async () => {
    const { jobs, id, wake } = await accepted({
      run: (args) => {
        args.project_id = "changed";
        return undefined;
      },
    });
    expect(await wake()).toMatchObject({ ran: true, text: "" });
    expect(JSON.parse(jobs.rows.get(id)?.job ?? "").arguments).toEqual(apollo);
  });

  it("a handler that throws has run and failed: reported, told, and not run again", async () => {
    const { service, id, jobs, wake, ran } = await accepted({ run: () => Promise.reject(new Error("disk full")) });
    expect(await wake()).toMatchObject({ ran: true, outcome: "failed", text: expect.stringContaining("disk full") });
    expect(service.approvals.get(id)?.outcome).toBe("failed");
    expect(jobs.endOf(id)).toMatchObject({ ran: true, outcome: "failed" });
    await wake();
    expect(ran).toHaveLength(1);
  });
});

describe("one run, whatever dies", () => {
  it("I5: fifty wake-ups at once and a sweep run it once, in one process", async () => {
    const { service, resumer, ran, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    const wakes = Array.from({ length: 50 }, () => resumer.heed(event(id)));
    await Promise.all([...wakes, resumer.sweep()]);
    expect([ran.length, service.count("consume")]).toEqual([1, 1]);
  });

  it("I5: of two replicas that are woken at once one runs it, and the other never calls its end unknown", async () => {
    const { service, jobs, resumer, ran, ask, event } = await setJobsStage();
    const other = replicaOf(service, jobs);
    for (let round = 0; round < 10; round += 1) {
      const id = await ask();
      await service.decide(id, "accept");
      const both = await Promise.all([resumer.heed(event(id)), other.resumer.heed(event(id))]);
      for (const resumed of both) expect(JSON.stringify(resumed)).not.toContain('"unknown"');
      expect(jobs.endOf(id)).toEqual({ ran: true, outcome: "succeeded", text: "Deleted p_42." });
    }
    const runs = [...ran, ...other.ran].map(({ approvalId }) => approvalId);
    expect([runs.length, new Set(runs).size]).toEqual([10, 10]);
  });

  it("a replica that comes late does not put its words in the place of what the run has said", async () => {
    const { service, jobs, resumer, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    let finds = 0;
    const late = replicaOf(service, {
      ...jobs,
      async find(approvalId) {
        const job = await jobs.find(approvalId);
        finds += 1;
        if (finds === 1) await resumer.heed(event(id));
        return job;
      },
    });
    expect(await late.resumer.resume(id)).toMatchObject({ kind: "ended", ran: true, outcome: "succeeded" });
    expect(jobs.endOf(id)).toEqual({ ran: true, outcome: "succeeded", text: "Deleted p_42." });
    expect(late.ran).toEqual([]);
  });

  it("I14: after a death between consume and outcome the job waits for the service's word, ends as unknown, and never runs again", async () => {
    const { service, jobs, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    // The attempt that died: granted, and never heard of again.
    const { caller, action } = service.approvals.get(id) ?? {};
    await fetch(`${service.url}/api/v1/approvals/${id}/consume`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.apiKey}` },
      body: JSON.stringify({ caller, action, consumerToken: "x".repeat(43) }),
    });
    const restarted = replicaOf(service, jobs);
    const looks = service.count("status");
    expect(await restarted.resumer.sweep()).toEqual([{ approvalId: id, kind: "started" }]);
    expect([service.count("status") - looks, restarted.events]).toEqual([1, []]);
    expect(await restarted.resumer.heed(event(id))).toEqual({ kind: "started" });
    const approval = service.approvals.get(id);
    if (approval) approval.outcome = "unknown";
    expect(await restarted.resumer.heed(event(id))).toMatchObject({ kind: "ended", ran: true, outcome: "unknown" });
    expect(await restarted.resumer.sweep()).toEqual([]);
    expect(restarted.ran).toEqual([]);
  });

  it("I14: a grant whose answer is lost runs nothing, and neither does the next look", async () => {
    const { service, resumer, ran, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    for (let times = 0; times < 3; times += 1) service.plan("consume", { kind: "drop" });
    expect(await resumer.heed(event(id))).toEqual({ kind: "later", ending: "unreachable" });
    expect(await resumer.sweep()).toMatchObject([{ kind: "ended", ran: true, outcome: "failed" }]);
    expect(ran).toEqual([]);
  });

  it("a service that is away, or does not take the key, is asked again later; then it runs once", async () => {
    const { service, resumer, ran, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    const refused = { kind: "refuse", problem: { status: 401, code: "unauthorized" } } as const;
    service.plan("status", refused);
    expect(await resumer.heed(event(id))).toEqual({ kind: "later", ending: "not_authorized" });
    for (let times = 0; times < 2; times += 1) service.plan("status", { kind: "drop" });
    expect(await resumer.heed(event(id))).toEqual({ kind: "later", ending: "unreachable" });
    expect(await resumer.heed(event(id))).toMatchObject({ kind: "ended", ran: true });
    expect(ran).toHaveLength(1);
  });

  it("a run whose end the store does not take is told, looked up, and not repeated", async () => {
    const jobs = memoryJobs();
    let isFull = true;
    const end: typeof jobs.end = (...given) => (isFull ? Promise.reject(new Error("disk full")) : jobs.end(...given));
    const { service, resumer, ran, events, ask, event } = await setJobsStage({ jobs: { ...jobs, end } });
    const id = await ask();
    await service.decide(id, "accept");
    expect(await resumer.heed(event(id))).toMatchObject({ kind: "ended", ran: true, outcome: "succeeded" });
    expect(events).toContainEqual({ type: "end_not_kept", tool: "delete_project", approvalId: id });
    isFull = false;
    expect(await resumer.sweep()).toMatchObject([{ kind: "ended", ran: true, outcome: "succeeded" }]);
    expect(jobs.endOf(id)).toMatchObject({ ran: true, outcome: "succeeded" });
    expect(ran).toHaveLength(1);
  });

  it("once the process ends nothing more is consumed, and the job stays for the next one", async () => {
    const stopping = new AbortController();
    const { service, jobs, resumer, ran, ask, event } = await setJobsStage({ signal: stopping.signal });
    const id = await ask();
    await service.decide(id, "accept");
    stopping.abort();
    expect(await resumer.heed(event(id))).toEqual({ kind: "later", ending: "interrupted" });
    expect([ran.length, service.count("consume"), (await jobs.open()).length]).toEqual([0, 0, 1]);
  });

  it("a job of a tool that is not here stays for a replica that has it", async () => {
    const { service, jobs, resumer, ran, ask, event } = await setJobsStage();
    const id = await ask();
    await service.decide(id, "accept");
    const { url, apiKey, clientId } = service;
    const without = createResumer({ url, apiKey, clientId, jobs });
    expect(await without.heed(event(id))).toEqual({ kind: "later", ending: "internal" });
    expect(await resumer.heed(event(id))).toMatchObject({ kind: "ended", ran: true });
    expect(ran).toHaveLength(1);
  });
});

describe("turns", () => {
  it("a wake-up that comes while the work has already looked makes it look once more, and many make it look once", async () => {
    const looks: string[] = [];
    const gates: (() => void)[] = [];
    let state = "pending";
    const take = createTurns(async (key) => {
      const seen = state;
      await new Promise<void>((resolve) => void gates.push(resolve));
      looks.push(`${key} ${seen}`);
      return seen;
    });
    const first = take("a");
    state = "accepted";
    const later = [take("a"), take("a"), take("a")];
    const other = take("b");
    gates.shift()?.();
    expect(await first).toBe("pending");
    await Promise.resolve();
    for (const open of gates.splice(0)) open();
    expect(await Promise.all([...later, other])).toEqual(["accepted", "accepted", "accepted", "accepted"]);
    expect(looks.toSorted()).toEqual(["a accepted", "a pending", "b accepted"]);
  });

  it("work that fails holds nobody up", async () => {
    let times = 0;
    const take = createTurns(async () => {
      times += 1;
      if (times === 1) throw new Error("down");
      return times;
    });
    const both = [take("a"), take("a")];
    await expect(both[0]).rejects.toThrow("down");
    expect(await both[1]).toBe(2);
    expect(await take("a")).toBe(3);
  });
});

import { describe, expect, it, vi } from "vitest";
import { askRound as ask, sendRound } from "./raw-round";
import { setSmallStage } from "./small-server";

const done = () => ({ content: [{ type: "text" as const, text: "Done." }] });
const ending = (answer: Awaited<ReturnType<typeof sendRound>>) => answer.result?._meta?.["countersign/ending"];

describe("the fence between an accept and a run", () => {
  it("I15: a caller who is another one, or nobody, by the time of the run gets nothing run and nothing spent", async () => {
    for (const later of [undefined, { iss: "https://as.example.com", sub: "bob" }]) {
      let caller: { iss: string; sub: string } | undefined = { iss: "https://as.example.com", sub: "alice" };
      const { service, call } = await setSmallStage(done, {
        gate: { resolveCaller: () => caller },
        // Read between the receipt and the grant; the wait for the person is long before.
        preconditions: async () => ({}),
      });
      const requestState = await ask(call);
      await service.decide(requestState, "accept");
      let looks = 0;
      service.before("status", async () => {
        looks += 1;
        // The first look is that of the hook, the second that of the tool: it has accepted the caller by then.
        if (looks === 2) caller = later;
      });
      expect(ending(await sendRound({ ...call, requestState }))).toBe("caller_gone");
      expect(service.count("consume")).toBe(0);
    }
  });

  it("I13: a check that differs after the accept is stale, and one that cannot be read as well: nothing is spent", async () => {
    for (const later of [
      () => [{ label: "Items", claimed: 3, actual: 4 }],
      () => {
        throw new Error("gone");
      },
    ]) {
      let checks: () => { label: string; claimed: number; actual: number }[] = () => [
        { label: "Items", claimed: 3, actual: 3 },
      ];
      const { service, call } = await setSmallStage(done, { checks: () => checks() });
      const requestState = await ask(call);
      expect(service.seen[0]?.body["presentation"]).toMatchObject({ checks: [{ claimed: 3, actual: 3 }] });
      await service.decide(requestState, "accept");
      checks = later;
      expect(ending(await sendRound({ ...call, requestState }))).toBe("stale");
      expect(service.count("consume")).toBe(0);
    }
  });

  it("I12: what cannot start within ten seconds of the grant is reported as not started, and does not run", async () => {
    let ran = 0;
    const { service, call } = await setSmallStage(() => {
      ran += 1;
      return done();
    });
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    const clock = vi.spyOn(performance, "now");
    service.before("consume", async () => {
      const now = performance.now();
      clock.mockReturnValue(now + 10_001);
    });
    const answer = await sendRound({ ...call, requestState });
    clock.mockRestore();
    expect(ending(answer)).toBe("not_started");
    expect(answer.result?.content?.[0]?.text).toContain("the approval is spent");
    expect(service.seen.find(({ route }) => route === "outcome")?.body).toMatchObject({
      outcome: "failed",
      code: "not_started",
    });
    expect(ran).toBe(0);
  });

  it("I14: an approval that has run answers when it ran and how, and runs nothing", async () => {
    const { service, call } = await setSmallStage(done);
    const requestState = await ask(call);
    await service.decide(requestState, "accept");
    await sendRound({ ...call, requestState });
    const again = await sendRound({ ...call, requestState });
    expect(ending(again)).toBe("already_run_succeeded");
    expect(again.result?.["isError"]).toBe(false);
    expect(again.result?.content?.[0]?.text).toMatch(/was not run again\..*\nIt ran at \d{4}-\d\d-\d\dT/s);
    expect(service.count("consume")).toBe(1);
  });
});

describe("a wait that outlasts the MCP client's patience", () => {
  it("ends in a text before the client gives up, and leaves the request open", async () => {
    const { service, call } = await setSmallStage(done, { gate: { pollSeconds: 1, maxRounds: 2 } });
    const requestState = await ask(call);
    const approval = service.approvals.get(requestState);
    if (approval) approval.createdAt = "2020-01-01T00:00:00Z";
    const answer = await sendRound({ ...call, requestState });
    expect(ending(answer)).toBe("still_pending");
    expect(answer.result?.["isError"]).toBe(true);
    expect(approval?.status).toBe("pending");
    await service.decide(requestState, "accept");
    expect((await sendRound(call)).result?.content?.[0]?.text).toBe("Done.");
  });
});

describe("the hooks of the endings", () => {
  it("each is told its ending, the arguments and the note; what it says is the server's word, and what it throws is dropped", async () => {
    const told: unknown[] = [];
    const hook = (name: string) => (ended: { ending: string; args: unknown; note: string | undefined }) => {
      told.push([name, ended.ending, ended.args, ended.note]);
      if (ended.ending === "expired") throw new Error("disk full");
      return `Saved as draft_1.\n"do_it" ran`;
    };
    const hooks = {
      onDecline: hook("decline"),
      onCancel: hook("cancel"),
      onExpire: hook("expire"),
      onWithdrawn: hook("withdrawn"),
    };
    const { service, call } = await setSmallStage(done, { hooks });
    const args = { list: ["b", "a"] };
    const endedBy = async (end: (id: string) => Promise<void>) => {
      const requestState = await ask(call);
      await end(requestState);
      return (await sendRound({ ...call, requestState })).result?.content?.[0]?.text ?? "";
    };
    expect(await endedBy((id) => service.decide(id, "decline", { note: "no" }))).toContain(
      '\nThe server adds: Saved as draft_1. "do_it" ran\n',
    );
    await endedBy((id) => service.decide(id, "decline", { reason: "not_requested" }));
    await endedBy((id) => service.decide(id, "cancel"));
    expect(await endedBy((id) => service.end(id, "expired"))).not.toContain("The server adds");
    await endedBy((id) => service.end(id, "withdrawn", "taken_back"));
    expect(told).toEqual([
      ["decline", "declined", args, "no"],
      ["decline", "not_requested", args, undefined],
      ["cancel", "cancelled", args, undefined],
      ["expire", "expired", args, undefined],
      ["withdrawn", "withdrawn_taken_back", args, undefined],
    ]);
  });

  it("are not called with arguments that nobody was asked about: a state that is for another call is a mismatch", async () => {
    const told: unknown[] = [];
    const hooks = { onDecline: ({ args }: { args: unknown }) => void told.push(args) };
    const { service, call } = await setSmallStage(done, { hooks });
    const requestState = await ask(call);
    await service.decide(requestState, "decline", { note: "private" });
    const swapped = await sendRound({ ...call, args: { list: ["other"] }, requestState });
    expect(ending(swapped)).toBe("action_mismatch");
    expect(JSON.stringify(swapped.result)).not.toContain("private");
    expect(told).toEqual([]);
  });
});

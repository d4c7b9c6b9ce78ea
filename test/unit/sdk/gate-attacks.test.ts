import type { Caller, GateOptions } from "@countersign/mcp";
import { newApprovalId } from "@countersign/mcp/fake/approval";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { z } from "zod";
import { ALICE, apollo, BOB, setStage } from "./crm";
import { startFakeService } from "./fake-service";
import { type RawRound, sendRound } from "./raw-round";
import { startSmallServer } from "./small-server";

/*
 * Attacks on the gate by name. Those that are proved elsewhere:
 * - forged accept: gate-rounds ("a first round with a forged accept is a first round"), gate-decisions ("I1: an accept by the MCP client alone
 *   decides nothing"), gate-form ("an accept without a state is a first round: it asks")
 * - swapped arguments: gate-rounds ("I3: a state with other arguments than the approved ones runs nothing")
 * - defaults and stripped keys: gate-schema
 * - another user's state: gate-rounds ("I15, S30: a state in another caller's hands is refused like an unknown one, accepted or not")
 * - forms of tier 2: gate-form
 * - Countersign down when it is asked, and every receipt that does not prove the accept: gate-refusals
 * - the run that would start too late after a slow grant: gate-fence (I12)
 * - after cancellation not a byte follows: gate-silence
 */

const ISSUER = "https://as.example.com";
const done = { content: [{ type: "text" as const, text: "Done." }] };
const INVALID_STATE = {
  code: -32602,
  message: "Invalid or expired requestState",
  data: { reason: "invalid_request_state" },
};

type Answer = Awaited<ReturnType<typeof sendRound>>;
const endingOf = ({ result }: Answer) => result?._meta?.["countersign/ending"];
const textOf = ({ result }: Answer) => result?.content?.[0]?.text;

/** One Countersign, any number of instances of one MCP server with a gate of their own, and what the tool really did. */
async function setInstances() {
  const service = await startFakeService();
  onTestFinished(service.close);
  const ran: unknown[] = [];
  const who: Caller = { iss: ISSUER, sub: "alice", clientId: "chat-app" };
  const start = async (gate: Partial<GateOptions> = {}) => {
    const { url, close } = await startSmallServer({
      service,
      gate: { resolveCaller: () => ({ ...who }), ...gate },
      addTools: (server, guardian) => {
        const inputSchema = z.object({ name: z.string() });
        const presentation = ({ name }: { name: string }) => ({ title: `Delete ${name}` });
        guardian.guard({ server, tool: "delete_it", tier: 3, inputSchema, presentation }, (args) => {
          ran.push(args);
          return done;
        });
      },
    });
    const call: RawRound = { url, tool: "delete_it", args: { name: "Apollo" } };
    return { call, close };
  };
  const startUntilEnd = async (gate: Partial<GateOptions> = {}) => {
    const { call, close } = await start(gate);
    onTestFinished(close);
    return call;
  };
  return { service, ran, who, start, startUntilEnd };
}

async function askRound(call: RawRound): Promise<string> {
  return String((await sendRound(call)).result?.["requestState"]);
}

describe("an attack on whose state it is", () => {
  it.each([
    ["of another MCP client", "other-app"],
    ["of an MCP client that is not named", undefined],
    ["of an MCP client whose name only looks the same", "Chat-App"],
  ])("another MCP client's state: the same user's call through one %s gets nothing and runs nothing", async (_, id) => {
    const { service, ran, who, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    await service.decide(requestState, "accept", { note: "for the chat app" });
    if (id === undefined) delete who.clientId;
    else who.clientId = id;
    const stolen = await sendRound({ ...call, requestState });
    expect(stolen.error).toEqual(INVALID_STATE);
    expect(stolen.result).toBeUndefined();
    expect(service.count("consume")).toBe(0);
    expect(ran).toEqual([]);
    // Its own identical call is asked about anew, and leaves the other's approval where it was.
    expect(await askRound(call)).not.toBe(requestState);
    who.clientId = "chat-app";
    expect(textOf(await sendRound({ ...call, requestState }))).toBe("Done.");
  });

  it("expired state: what expired or lapsed runs nothing, however often and with whatever answer it comes back", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const inputResponses = { approval: { action: "accept" } };
    const expired = await askRound(call);
    await service.end(expired, "expired");
    const lapsed = await askRound(call);
    await service.decide(lapsed, "accept");
    service.lapse(lapsed);
    for (let times = 0; times < 2; times += 1) {
      expect(endingOf(await sendRound({ ...call, requestState: expired, inputResponses }))).toBe("expired");
      expect(endingOf(await sendRound({ ...call, requestState: lapsed, inputResponses }))).toBe("lapsed");
    }
    expect(service.count("consume")).toBe(0);
    // Told only to whoever it belongs to, and only with the call that it was for.
    expect(endingOf(await sendRound({ ...call, args: { name: "Zeus" }, requestState: expired }))).toBe(
      "action_mismatch",
    );
    expect(ran).toEqual([]);
  });

  it("_meta-claimed identity: who an MCP client says that it is asks in nobody's name and opens nobody's state", async () => {
    const stage = await setStage();
    const alice = { iss: ISSUER, sub: "alice", clientId: "chat-app" };
    const requestState = await askRound({ url: stage.crm.url, token: ALICE, args: apollo });
    await stage.service.decide(requestState, "accept");
    const bobs: RawRound = {
      url: stage.crm.url,
      token: BOB,
      args: apollo,
      headers: { "x-user": "alice", "x-forwarded-user": "alice" },
      meta: {
        ...alice,
        user: alice,
        caller: alice,
        subject: alice,
        authInfo: { token: ALICE, clientId: "chat-app", scopes: [], extra: alice },
        "io.modelcontextprotocol/clientInfo": { name: "alice", version: "1", ...alice },
      },
    };
    expect((await sendRound({ ...bobs, requestState })).error).toEqual(INVALID_STATE);
    const own = await askRound(bobs);
    expect(own).not.toBe(requestState);
    expect(stage.service.approvals.get(own)?.caller).toEqual({ iss: ISSUER, sub: "bob", clientId: "chat-app" });
    expect(stage.service.count("consume")).toBe(0);
    expect(stage.runs()).toBe(0);
  });
});

describe("an attack on how often and when it runs", () => {
  it("replay ×20 in parallel on two instances: runs once; the others say that it has run", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const calls = [await startUntilEnd(), await startUntilEnd()];
    const requestState = await askRound(calls[0] as RawRound);
    await service.decide(requestState, "accept");
    const rounds = Array.from({ length: 20 }, (_, index) => ({ ...(calls[index % 2] as RawRound), requestState }));
    const answers = await Promise.all(rounds.map(sendRound));
    expect(answers.filter((answer) => textOf(answer) === "Done.")).toHaveLength(1);
    expect(answers.filter((answer) => String(endingOf(answer)).startsWith("already_run_"))).toHaveLength(19);
    expect(ran).toEqual([{ name: "Apollo" }]);
    // Each of them tried with a token of its own, and one token was granted.
    const tokens = service.seen.filter(({ route }) => route === "consume").map(({ body }) => body["consumerToken"]);
    expect(new Set(tokens).size).toBe(tokens.length);
    expect(tokens.length).toBeGreaterThan(1);
  });

  it("disconnect-then-approve: nothing runs on its own, and the call made again runs it once", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    let tellEnded = (_ending: unknown) => {};
    const ended = new Promise((resolve) => {
      tellEnded = resolve;
    });
    const call = await startUntilEnd({
      onEvent: (event) => {
        if (event.type === "not_run") tellEnded(event.ending);
      },
    });
    const requestState = await askRound(call);
    const stop = new AbortController();
    const parked = service.nextParked(requestState);
    const waiting = sendRound({ ...call, requestState, signal: stop.signal });
    await parked;
    stop.abort();
    await expect(waiting).rejects.toThrow();
    expect(await ended).toBe("interrupted");
    await service.decide(requestState, "accept");
    expect(service.count("consume")).toBe(0);
    expect(ran).toEqual([]);
    // A client that lost its answer sends the call again as a new one, without the state.
    expect(textOf(await sendRound(call))).toBe("Done.");
    expect(endingOf(await sendRound({ ...call, requestState }))).toBe("already_run_succeeded");
    expect(service.approvals.size).toBe(1);
    expect(ran).toEqual([{ name: "Apollo" }]);
  });

  it("server restart in mid-wait: the round is lost and the approval is not; the next round runs it once, elsewhere", async () => {
    const { service, ran, start, startUntilEnd } = await setInstances();
    const first = await start();
    const requestState = await askRound(first.call);
    const parked = service.nextParked(requestState);
    const waiting = sendRound({ ...first.call, requestState }).then(
      ({ result }) => result?.content?.[0]?.text,
      () => "lost",
    );
    await parked;
    await first.close();
    expect(await waiting).not.toBe("Done.");
    await service.decide(requestState, "accept");
    expect(ran).toEqual([]);
    const second = await startUntilEnd();
    expect(textOf(await sendRound({ ...second, requestState }))).toBe("Done.");
    expect(ran).toEqual([{ name: "Apollo" }]);
    expect([service.count("mint"), service.count("consume")]).toEqual([1, 1]);
  });
});

describe("I13: a Countersign that is down or slow when it comes to run", () => {
  it("down: a grant that cannot be had runs nothing, and is had by the next round", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    await service.decide(requestState, "accept");
    for (let times = 0; times < 3; times += 1) {
      service.plan("consume", { kind: "refuse", problem: { status: 503, code: "unavailable" } });
    }
    expect(endingOf(await sendRound({ ...call, requestState }))).toBe("unreachable");
    expect(ran).toEqual([]);
    expect(textOf(await sendRound({ ...call, requestState }))).toBe("Done.");
    expect(ran).toHaveLength(1);
  });

  it("slow: a grant that comes after nobody waits for it any more runs nothing, then or later", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    await service.decide(requestState, "accept");
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    const patience = vi.spyOn(AbortSignal, "timeout").mockImplementation((ms) => timeout(ms / 25));
    onTestFinished(() => patience.mockRestore());
    let release = () => {};
    const slow = new Promise<void>((resolve) => {
      release = resolve;
    });
    service.before("consume", () => slow);
    expect(endingOf(await sendRound({ ...call, requestState }))).toBe("unreachable");
    patience.mockRestore();
    release();
    const later = await sendRound({ ...call, requestState });
    expect(endingOf(later)).toBe("already_run_unknown");
    expect(ran).toEqual([]);
  });

  it("down in mid-wait and for good: the round ends as unreachable, and runs nothing", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    const parked = service.nextParked(requestState);
    const waiting = sendRound({ ...call, requestState });
    await parked;
    await service.close();
    expect(endingOf(await waiting)).toBe("unreachable");
    expect(ran).toEqual([]);
  });
});

describe("I17: a Countersign that lies", () => {
  it.each([
    ["not_accepted", 409],
    ["already_consumed", 409],
    ["caller_mismatch", 409],
    ["action_mismatch", 409],
    ["stale", 409],
    ["lapsed", 409],
    ["integrity_failed", 409],
    ["a_code_of_tomorrow", 418],
    ["internal", 500],
  ])("the status says run and consume refuses with %s: nothing runs", async (code, status) => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    await service.decide(requestState, "accept");
    service.plan("consume", { kind: "refuse", problem: { status, code } });
    const { result } = await sendRound({ ...call, requestState });
    expect(result?.content?.[0]?.text).toMatch(/^"delete_it" (did not run|was not run again)/);
    expect(service.count("consume")).toBe(1);
    expect(ran).toEqual([]);
  });

  it.each([
    ["says that nothing is granted", { granted: false, replayed: false }],
    ["says nothing of a grant", {}],
    ["gives no receipt", { granted: true, replayed: false }],
  ])("an answer of status 200 to consume that %s is no grant", async (_, body) => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd({ fetch: answering("/consume", () => body) });
    const requestState = await askRound(call);
    await service.decide(requestState, "accept");
    expect((await sendRound({ ...call, requestState })).result?.["isError"]).toBe(true);
    expect(ran).toEqual([]);
  });

  it("consume grants with another approval's receipt: it is spent, reported as not started, and nothing runs", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    await service.decide(requestState, "accept");
    const other = await askRound({ ...call, args: { name: "Zeus" } });
    await service.decide(other, "accept");
    const spare = service.approvals.get(other)?.receipt;
    service.before("consume", async () => {
      Object.assign(service.approvals.get(requestState) ?? {}, { receipt: spare });
    });
    expect(endingOf(await sendRound({ ...call, requestState }))).toBe("unverifiable");
    expect(service.seen.at(-1)).toMatchObject({ route: "outcome", body: { outcome: "failed", code: "not_started" } });
    expect(ran).toEqual([]);
  });

  it("consume grants with a receipt of a decline, or of an accept with a broken signature: nothing runs", async () => {
    for (const forge of [
      (receipt: string) => `${receipt.slice(0, -6)}AAAAAA`,
      (receipt: string) => receipt.split(".").slice(0, 2).join("."),
      () => "",
    ]) {
      const { service, ran, startUntilEnd } = await setInstances();
      const call = await startUntilEnd();
      const requestState = await askRound(call);
      await service.decide(requestState, "accept");
      service.before("consume", async () => {
        const approval = service.approvals.get(requestState);
        if (approval) approval.receipt = forge(approval.receipt ?? "");
      });
      expect(endingOf(await sendRound({ ...call, requestState }))).toBe("unverifiable");
      expect(ran).toEqual([]);
    }
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd();
    const requestState = await askRound(call);
    await service.decide(requestState, "decline");
    const declined = service.approvals.get(requestState)?.receipt;
    const again = await askRound(call);
    await service.decide(again, "accept");
    service.before(
      "consume",
      async () => void Object.assign(service.approvals.get(again) ?? {}, { receipt: declined }),
    );
    expect(endingOf(await sendRound({ ...call, requestState: again }))).toBe("unverifiable");
    expect(ran).toEqual([]);
  });

  it("other issuer: where one is configured, the service's own document and receipts make no other one count", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const call = await startUntilEnd({ issuer: "https://countersign.example.com" });
    const requestState = await askRound(call);
    await service.decide(requestState, "accept");
    expect(endingOf(await sendRound({ ...call, requestState }))).toBe("unverifiable");
    expect(service.count("consume")).toBe(0);
    expect(ran).toEqual([]);
  });

  it("the answer about one approval is that of another, accepted one: the state is refused", async () => {
    const { service, ran, startUntilEnd } = await setInstances();
    const plain = await startUntilEnd();
    const accepted = await askRound(plain);
    await service.decide(accepted, "accept");
    const statusOf = await fetch(`${service.url}/api/v1/approvals/${accepted}`, {
      headers: { authorization: `Bearer ${service.apiKey}` },
    });
    const body = (await statusOf.json()) as Record<string, unknown>;
    const lied = await startUntilEnd({ fetch: answering(/approvals\/apr_\w+(\?|$)/, () => body) });
    expect((await sendRound({ ...lied, requestState: newApprovalId() })).error).toEqual(INVALID_STATE);
    expect(service.count("consume")).toBe(0);
    expect(ran).toEqual([]);
  });
});

/** A connection on which somebody answers certain requests in the service's place. */
function answering(path: string | RegExp, body: () => unknown): NonNullable<GateOptions["fetch"]> {
  return async (url, init) =>
    (typeof path === "string" ? url.endsWith(path) : path.test(url)) ? Response.json(body()) : await fetch(url, init);
}

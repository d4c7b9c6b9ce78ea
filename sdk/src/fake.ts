import { EventEmitter, once } from "node:events";
import { countEvent, createSigner, type Decision, type FakeApproval, STATUS_OF } from "./fake/approval";
import { type Fault, type Route, serveFake } from "./fake/serve";
import { change, type FakeState, type Seen } from "./fake/state";
import { eventBodyOf, signWebhookForTest, type WebhookForTest } from "./fake/webhook";
import type { Fetch } from "./http";

export { type Decision, type FakeApproval, type Fault, type Route, type Seen, signWebhookForTest, type WebhookForTest };

export type FakeOptions = {
  /** Under which origin it answers; default `http://localhost:4999`. Nothing listens there. */
  url?: string;
  clientId?: string;
};

/** A stand-in for Countersign, for unit tests of servers that use the kit. */
export type FakeCountersign = {
  /** For `createGate({ ...fake.gate, resolveCaller })`: the gate then talks to the stand-in, without a network. */
  gate: { url: string; apiKey: string; clientId: string; fetch: Fetch };
  /** Every approval that was asked for, by id: what would be shown, what would run, and where it stands. */
  approvals: ReadonlyMap<string, FakeApproval>;
  /** Every request that came, in order. */
  seen: readonly Seen[];
  /** The next approval that is asked for; call it before the tool. */
  nextAsked(): Promise<FakeApproval>;
  /** Plays the person. @throws Error for an approval that is not there or not pending */
  decide(id: string, decision: Decision, said?: { note?: string; reason?: "not_requested" }): Promise<void>;
  /** Decides each approval as soon as it is asked for, until told otherwise. */
  answerWith(decision: Decision | undefined): void;
  /** Ends an approval without the person. `reason` as in the contract, e.g. `frozen`. */
  end(id: string, status: "expired" | "withdrawn", reason?: string): Promise<void>;
  /** Lets the time to run an accepted approval pass. */
  lapse(id: string): void;
  /**
   * The webhook that tells the newest event of an approval, signed with `secret` (`whsec_…`). Nothing is sent: give it to your receiver,
   * twice or late or not at all.
   */
  webhook(id: string, secret: string): { body: string; headers: Record<string, string> };
  /** Plans what goes wrong with the next request of a route; several are taken in order. */
  failNext(route: Route, fault: Fault): void;
};

const API_KEY = "csk_fakefakefake_0123456789012345678901234567890123456789012";

/**
 * Makes a stand-in that answers as the service does and signs with a real Ed25519 key, so that the kit's own checks run in your tests.
 * It has the service's honesty and none of its durability, and no policy: limits, freezes and sign-in are not played.
 */
export async function createFakeCountersign(options: FakeOptions = {}): Promise<FakeCountersign> {
  const state = await createFakeState(options);
  return {
    gate: { url: state.url, apiKey: state.apiKey, clientId: state.clientId, fetch: fetchFrom(state) },
    approvals: state.approvals,
    seen: state.seen,
    ...fakeControls(state),
  };
}

/** What a stand-in holds, for one that is served in another way. */
export async function createFakeState({ url, clientId = "cli_fake" }: FakeOptions = {}): Promise<FakeState> {
  return {
    url: url ?? "http://localhost:4999",
    clientId,
    apiKey: API_KEY,
    signer: await createSigner("key-1"),
    approvals: new Map(),
    bus: new EventEmitter().setMaxListeners(0),
    overrides: {},
    seen: [],
    faults: [],
    hooks: new Map(),
    answer: undefined,
  };
}

export function fakeControls(state: FakeState) {
  const held = (id: string): FakeApproval => {
    const approval = state.approvals.get(id);
    if (approval === undefined) throw new Error(`There is no approval ${id}.`);
    return approval;
  };
  const pending = (id: string): FakeApproval => {
    const approval = held(id);
    if (approval.status !== "pending") throw new Error(`The approval ${id} is ${approval.status}, not pending.`);
    return approval;
  };
  return {
    nextAsked: async () => held(String((await once(state.bus, "minted"))[0])),
    decide: async (id: string, decision: Decision, said: { note?: string; reason?: string } = {}) =>
      await change(state, pending(id), { ...said, decision, status: STATUS_OF[decision] }),
    answerWith: (decision: Decision | undefined) => {
      state.answer = decision;
    },
    end: async (id: string, status: "expired" | "withdrawn", reason?: string) =>
      await change(state, held(id), { status, reason, decision: undefined }),
    lapse: (id: string) => {
      const approval = held(id);
      if (!approval.lapsed) countEvent(approval);
      approval.lapsed = true;
    },
    webhook: (id: string, secret: string) => {
      const body = eventBodyOf(held(id), state.clientId);
      return { body, headers: signWebhookForTest({ body, secret }) };
    },
    failNext: (route: Route, fault: Fault) => void state.faults.push({ route, fault }),
  };
}

function fetchFrom(state: FakeState): Fetch {
  return async (input, init) => {
    const signal = init.signal ?? undefined;
    const answered = serveFake(state, new Request(input, init)).then((response) => {
      if (response === undefined) throw new TypeError("fetch failed");
      return response;
    });
    return signal === undefined ? await answered : await Promise.race([answered, rejectedOn(signal)]);
  };
}

async function rejectedOn(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, "abort");
  throw signal.reason;
}

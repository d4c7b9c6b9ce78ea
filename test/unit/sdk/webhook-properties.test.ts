import { randomBytes } from "node:crypto";
import { verifyWebhook, WebhookError } from "@countersign/mcp";
import { signWebhookForTest } from "@countersign/mcp/fake";
import { newApprovalId } from "@countersign/mcp/fake/approval";
import { createNewsMemory, newerOnly, type WebhookEvent } from "@countersign/mcp/webhook";
import fc from "fast-check";
import { describe, expect, it } from "vitest";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const body = JSON.stringify({
  type: "client.frozen",
  timestamp: "2026-12-01T12:00:00.123Z",
  data: { clientId: "cli_crm", reason: "日本語 🙂" },
});
const headers = signWebhookForTest({ body, secret });

describe("a verified webhook, as a property", () => {
  const parts = {
    body: Buffer.from(body),
    "webhook-id": Buffer.from(headers["webhook-id"] ?? ""),
    "webhook-timestamp": Buffer.from(headers["webhook-timestamp"] ?? ""),
    "webhook-signature": Buffer.from(headers["webhook-signature"] ?? ""),
  };
  const places = Object.entries(parts).flatMap(([part, bytes]) => [...bytes.keys()].map((at) => [part, at] as const));

  it("with any one byte of body, id, timestamp or signature changed, whichever way, it is refused", () => {
    const withByte = (part: string, at: number, change: (byte: number) => number) => {
      const whole = (name: keyof typeof parts) => {
        const bytes = Buffer.from(parts[name]);
        if (name === part) bytes[at] = change(bytes[at] ?? 0);
        return bytes;
      };
      const names = ["webhook-id", "webhook-timestamp", "webhook-signature"] as const;
      const given = Object.fromEntries(names.map((name) => [name, whole(name).toString("latin1")]));
      return () => verifyWebhook({ body: whole("body"), headers: given, secret });
    };
    const place = fc.constantFrom(...places);
    fc.assert(
      fc.property(place, fc.integer({ min: 1, max: 255 }), ([part, at], bits) => {
        expect(withByte(part, at, (byte) => byte ^ bits)).toThrow(WebhookError);
      }),
      { numRuns: 2000 },
    );
    // Each place at least once, too.
    for (const [part, at] of places) expect(withByte(part, at, (byte) => byte ^ 1)).toThrow(WebhookError);
    for (const [part, at] of places.slice(0, 1)) expect(withByte(part, at, (byte) => byte)).not.toThrow();
  });

  it("no bytes and no headers whatever make it throw anything but its own error, or pass", () => {
    const value = fc.option(fc.oneof(fc.string(), fc.array(fc.string(), { maxLength: 3 })), { nil: undefined });
    const record = fc.record(
      { "webhook-id": value, "webhook-timestamp": value, "webhook-signature": value },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.uint8Array()), record, (given, made) => {
        expect(() => verifyWebhook({ body: given, headers: made, secret })).toThrow(WebhookError);
      }),
    );
  });

  it("what is signed is taken whatever JSON its data hold, and refused under another key", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (data) => {
        const text = JSON.stringify({ type: "later.kind", timestamp: "2026-12-01T12:00:00Z", data });
        fc.pre(!text.includes('"__proto__"'));
        const signed = signWebhookForTest({ body: text, secret });
        expect(verifyWebhook({ body: text, headers: signed, secret }).data).toEqual(JSON.parse(JSON.stringify(data)));
        const other = `whsec_${randomBytes(32).toString("base64")}`;
        expect(() => verifyWebhook({ body: text, headers: signed, secret: other })).toThrow(WebhookError);
      }),
    );
  });
});

describe("the receiver's rule: only what is newer counts", () => {
  const approvals = [newApprovalId(), newApprovalId()];
  const types = ["approval.accepted", "approval.consumed", "approval.outcome"] as const;
  const events = approvals.flatMap((approvalId) =>
    types.map(
      (type, index): WebhookEvent => ({
        kind: "approval",
        id: `evt_${approvalId}_${index}`,
        type,
        timestamp: "2026-12-01T12:00:00Z",
        data: {
          clientId: "cli_crm",
          approvalId,
          approvalSeq: index + 2,
          tool: "delete_project",
          actionDigest: `sha256:${"ab".repeat(32)}`,
          status: "accepted",
        },
      }),
    ),
  );
  const delivered = fc
    .array(fc.constantFrom(...events), { maxLength: 12 })
    .chain((again) => fc.shuffledSubarray([...events, ...again], { minLength: events.length + again.length }));

  /** What a receiver does that keeps what events say: the events that it took, in the order in which it took them. */
  const received = async (arriving: readonly WebhookEvent[], news = newerOnly()) => {
    const taken: WebhookEvent[] = [];
    for (const event of arriving) {
      if (!(await news.isNews(event))) continue;
      taken.push(event);
      await news.remember(event);
    }
    return taken;
  };
  const stateAfter = (taken: readonly WebhookEvent[]) =>
    Object.fromEntries(taken.flatMap((event) => (event.kind === "approval" ? [[event.data.approvalId, event]] : [])));

  it("every order and every repetition of an approval's events ends in the same state", async () => {
    const inOrder = stateAfter(events);
    await fc.assert(
      fc.asyncProperty(delivered, async (arriving) => {
        expect(stateAfter(await received(arriving))).toEqual(inOrder);
      }),
    );
  });

  it("an event is news at most once, and never after a later one of its approval", async () => {
    await fc.assert(
      fc.asyncProperty(delivered, async (arriving) => {
        const taken = await received(arriving);
        for (const approvalId of approvals) {
          const seqs = taken.flatMap((event) =>
            event.kind === "approval" && event.data.approvalId === approvalId ? event.data.approvalSeq : [],
          );
          expect(seqs).toEqual([...new Set(seqs)].toSorted((a, b) => a - b));
        }
      }),
    );
  });

  it("an event whose work was not done is news again when it is sent again", async () => {
    const news = newerOnly();
    const [first] = events as [WebhookEvent];
    expect(await news.isNews(first)).toBe(true);
    // Here the process died.
    expect(await news.isNews(first)).toBe(true);
    await news.remember(first);
    expect(await news.isNews(first)).toBe(false);
  });

  it("a state that two replicas share ends alike, also when one remembers late what is old by then", async () => {
    await fc.assert(
      fc.asyncProperty(delivered, async (arriving) => {
        const memory = createNewsMemory();
        const [one, other] = [newerOnly(memory), newerOnly(memory)];
        for (const event of arriving) if (await one.isNews(event)) await other.remember(event);
        for (const event of arriving) await one.remember(event);
        for (const approvalId of approvals) expect(memory.highest(approvalId)).toBe(4);
      }),
    );
  });

  it("events that are about no approval are told apart by their id", async () => {
    const event = { timestamp: "2026-12-01T12:00:00Z", data: { clientId: "cli_crm" } };
    const frozen = { ...event, kind: "freeze", type: "client.frozen", id: "evt_1" } as const;
    const unknown = { ...event, kind: "unknown", type: "later.kind", id: "evt_3" } as const;
    const taken = await received([frozen, frozen, { ...frozen, id: "evt_2" }, unknown, frozen, unknown]);
    expect(taken.map(({ id }) => id)).toEqual(["evt_1", "evt_2", "evt_3"]);
  });

  it("a store of the author's decides, also one that is asked over a network", async () => {
    const memory = createNewsMemory();
    const asked: unknown[] = [];
    const news = newerOnly({
      async highest(key) {
        asked.push(key);
        return memory.highest(key);
      },
      raise: async (...given) => memory.raise(...given),
    });
    expect(await received([...events, ...events], news)).toEqual(events);
    expect(asked).toHaveLength(2 * events.length);
  });

  it("remembers the last ten thousand, so that nobody can fill the memory", () => {
    const memory = createNewsMemory();
    for (let n = 0; n < 10_001; n += 1) memory.raise(`evt_${n}`, 0);
    expect(["evt_0", "evt_1", "evt_10000"].map(memory.highest)).toEqual([undefined, 0, 0]);
  });
});

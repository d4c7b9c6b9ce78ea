import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { eventBody, eventIdOf, type StoredEvent } from "@/lib/webhooks/event";
import { newWebhookSecret, signatureHeader } from "@/lib/webhooks/sign";

const event: StoredEvent = {
  eventUuid: "00000000-0000-4000-8000-000000000000",
  at: new Date("2026-12-01T12:00:00.123Z"),
  type: "approval.accepted",
  clientId: "cli_1",
  approvalId: "apr_1",
  approvalSeq: 2,
  data: { tool: "delete_project", status: "accepted", receipt: "a.b.c" },
  traceContext: null,
};

describe("the body of an event", () => {
  it("has the members that the standard proposes", () => {
    expect(JSON.parse(eventBody(event))).toEqual({
      type: "approval.accepted",
      timestamp: "2026-12-01T12:00:00.123Z",
      data: { clientId: "cli_1", approvalId: "apr_1", approvalSeq: 2, ...event.data },
    });
  });

  it("is under 20 KB however long the receipt is: then it goes without", () => {
    const body = eventBody({ ...event, data: { ...event.data, receipt: "x".repeat(20_000) } });
    expect(JSON.parse(body).data).toEqual({
      clientId: "cli_1",
      approvalId: "apr_1",
      approvalSeq: 2,
      tool: "delete_project",
      status: "accepted",
    });
  });

  it("names the row's own client and approval, whatever its data says", () => {
    const body = eventBody({ ...event, approvalId: null, approvalSeq: null, data: { clientId: "cli_1" } });
    expect(JSON.parse(body).data).toEqual({ clientId: "cli_1" });
  });
});

describe("the id of an event", () => {
  it("is the UUID in another spelling: different for different ones, 26 characters each", () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (a, b) => {
        expect(eventIdOf(a)).toMatch(/^evt_[0-9a-hjkmnp-tv-z]{26}$/);
        return (eventIdOf(a) === eventIdOf(b)) === (a === b);
      }),
    );
    expect(eventIdOf("ffffffff-ffff-ffff-ffff-ffffffffffff")).toBe("evt_7zzzzzzzzzzzzzzzzzzzzzzzzz");
  });
});

describe("the signature", () => {
  it("is what the reference library makes and takes, for any body", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        const [secret, other] = [newWebhookSecret(), newWebhookSecret()];
        const timestamp = Math.floor(Date.now() / 1000);
        const body = JSON.stringify({ text });
        const message = { id: "evt_1", timestamp, body };
        expect(signatureHeader([secret], message)).toBe(
          new Webhook(secret).sign("evt_1", new Date(timestamp * 1000), body),
        );
        const headers = { "webhook-id": "evt_1", "webhook-timestamp": String(timestamp) };
        const both = { ...headers, "webhook-signature": signatureHeader([other, secret], message) };
        expect(new Webhook(secret).verify(body, both)).toEqual({ text });
        expect(new Webhook(other).verify(body, both)).toEqual({ text });
        expect(() => new Webhook(newWebhookSecret()).verify(body, both)).toThrow();
      }),
      { numRuns: 50 },
    );
  });
});

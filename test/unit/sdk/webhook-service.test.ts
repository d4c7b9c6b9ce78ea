import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { createResumer, verifyWebhook } from "@countersign/mcp";
import { createFakeCountersign } from "@countersign/mcp/fake";
import { newApprovalId } from "@countersign/mcp/fake/approval";
import { expect, it } from "vitest";
import { eventBody, eventIdOf, eventTypes, type StoredEvent } from "@/lib/webhooks/event";
import { newWebhookSecret, signatureHeader } from "@/lib/webhooks/sign";
import { alice, memoryJobs } from "./webhook-jobs";

/** As the service stores it, whatever the type. */
function stored(type: string): StoredEvent {
  const isOfClient = type.startsWith("client.") || type.startsWith("webhook.");
  const ofClient = {
    reason: "a reason",
    subject: { iss: "i", sub: "s" },
    until: new Date().toISOString(),
    endpointId: "whe_1",
  };
  const receipt = "a.b.c";
  const ofApproval = {
    tool: "t",
    actionDigest: `sha256:${"0".repeat(64)}`,
    status: "accepted",
    actBy: "2026-12-01T12:05:00Z",
    receipt,
  };
  return {
    eventUuid: "0190a2b4-0000-7000-8000-0123456789ab",
    at: new Date(),
    type,
    clientId: "cli_crm",
    approvalId: isOfClient ? null : newApprovalId(),
    approvalSeq: isOfClient ? null : 2,
    data: isOfClient ? ofClient : ofApproval,
    traceContext: null,
  };
}

it("the kit takes what the service makes and signs, of each type, and knows each type", () => {
  const [old, next] = [newWebhookSecret(), newWebhookSecret()];
  for (const type of [...eventTypes, "webhook.test"]) {
    const event = stored(type);
    const body = eventBody(event);
    const id = eventIdOf(event.eventUuid);
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(timestamp),
      "webhook-signature": signatureHeader([next, old], { id, timestamp, body }),
    };
    for (const secret of [old, next]) {
      const verified = verifyWebhook({ body, headers, secret });
      expect(verified).toMatchObject({ id, type, data: { clientId: "cli_crm", ...event.data } });
      expect(verified.kind).not.toBe("unknown");
    }
  }
});

it("the stand-in makes the webhook of each event of an approval, numbered from 1 without gaps", async () => {
  const fake = await createFakeCountersign();
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const jobs = memoryJobs();
  const resumer = createResumer({ ...fake.gate, jobs });
  const tool = resumer.guard({ tool: "do_it", presentation: () => ({ title: "Do it" }) }, () => "Done.");
  const asked = await tool.ask({}, { caller: alice });
  const id = String(asked._meta["countersign/approvalId"]);
  expect(() => fake.webhook(id, secret)).toThrow("pending");
  await fake.decide(id, "accept");
  const received = () => verifyWebhook({ ...fake.webhook(id, secret), secret });
  expect(received()).toMatchObject({ type: "approval.accepted", data: { approvalSeq: 2, decision: "accept" } });
  expect(await resumer.heed(received())).toMatchObject({ kind: "ended", ran: true });
  expect(received()).toMatchObject({ type: "approval.outcome", data: { approvalSeq: 4, outcome: "succeeded" } });
  const next = await tool.ask({}, { caller: alice });
  const lapsed = String(next._meta["countersign/approvalId"]);
  await fake.decide(lapsed, "accept");
  fake.lapse(lapsed);
  const event = verifyWebhook({ ...fake.webhook(lapsed, secret), secret });
  expect(event).toMatchObject({ type: "approval.lapsed", data: { approvalSeq: 3 } });
});

it("neither entry for webhooks loads an MCP SDK, and the verifier loads no library but zod", () => {
  const sources = path.resolve(import.meta.dirname, "../../../sdk/src");
  const loaded = (file: string, seen = new Set<string>()): Set<string> => {
    if (seen.has(file)) return seen;
    seen.add(file);
    const code = readFileSync(path.join(sources, `${file}.ts`), "utf8");
    for (const [, from = ""] of code.matchAll(/^(?:import|export)(?! type)[^;]*? from "([^"]+)";/gms))
      if (from.startsWith(".")) loaded(path.join(path.dirname(file), from), seen);
      else seen.add(from);
    return seen;
  };
  const packagesOf = (file: string) =>
    [...loaded(file)].filter((name) => /^@|^[a-z]+$/.test(name) && !["webhook", "resumer"].includes(name));
  expect(packagesOf("webhook")).toEqual(["zod"]);
  expect(packagesOf("resumer").filter((name) => name.startsWith("@"))).toEqual([]);
});

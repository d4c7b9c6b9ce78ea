import { z } from "zod";
import { APPROVAL_ID_PATTERN } from "../approval-id";

const common = {
  /** `webhook-id`: equal for all attempts and replays of one event. */
  id: z.string(),
  /** When it happened, RFC 3339 in UTC. */
  timestamp: z.iso.datetime(),
};

const identity = z.looseObject({ iss: z.string().min(1), sub: z.string().min(1) });

/** What an event says of its approval, as it was then; nothing of it is a right to run. */
const approvalDataSchema = z.looseObject({
  clientId: z.string().min(1),
  approvalId: z.string().regex(APPROVAL_ID_PATTERN),
  /** Counts the events of this approval, from 1 (asked for), without gaps. */
  approvalSeq: z.number().int().min(1),
  tool: z.string().min(1),
  actionDigest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  status: z.enum(["pending", "accepted", "declined", "cancelled", "expired", "withdrawn"]),
  decision: z.enum(["accept", "decline", "cancel"]).optional(),
  reason: z.string().optional(),
  decidedAt: z.iso.datetime().optional(),
  actBy: z.iso.datetime().optional(),
  consumedAt: z.iso.datetime().optional(),
  outcome: z.enum(["succeeded", "failed", "unknown"]).optional(),
  outcomeCode: z.string().optional(),
  receipt: z.string().optional(),
});

const APPROVAL_TYPES = [
  "approval.accepted",
  "approval.declined",
  "approval.cancelled",
  "approval.expired",
  "approval.withdrawn",
  "approval.lapsed",
  "approval.consumed",
  "approval.outcome",
] as const;
const FREEZE_TYPES = ["client.frozen", "client.unfrozen"] as const;

const eventSchema = z.discriminatedUnion("type", [
  z.object({ ...common, type: z.enum(APPROVAL_TYPES), data: approvalDataSchema }),
  z.object({
    ...common,
    type: z.enum(FREEZE_TYPES),
    /** `subject`: the freeze is about this person alone. */
    data: z.looseObject({
      clientId: z.string().min(1),
      reason: z.string().optional(),
      subject: identity.optional(),
      until: z.iso.datetime().optional(),
    }),
  }),
  z.object({
    ...common,
    type: z.literal("webhook.test"),
    data: z.looseObject({ clientId: z.string().min(1), endpointId: z.string().min(1) }),
  }),
]);

const unknownSchema = z.object({ ...common, type: z.string().min(1), data: z.looseObject({}) });

type KnownEvent = z.infer<typeof eventSchema>;
type Of<Types extends string> = Extract<KnownEvent, { type: Types }>;

/** Something happened to an approval. */
export type ApprovalEvent = { kind: "approval" } & Of<(typeof APPROVAL_TYPES)[number]>;
/** Approvals of a client, or of one person there, were frozen or go on. */
export type FreezeEvent = { kind: "freeze" } & Of<(typeof FREEZE_TYPES)[number]>;
/** An admin tries the endpoint. */
export type TestEvent = { kind: "test" } & Of<"webhook.test">;
/** Of a type that this version of the kit does not know: answer 2xx and pass it over. */
export type UnknownEvent = { kind: "unknown" } & z.infer<typeof unknownSchema>;
/** An event of Countersign; `kind` tells them apart, and `type` within. */
export type WebhookEvent = ApprovalEvent | FreezeEvent | TestEvent | UnknownEvent;

/**
 * Makes an event of parsed JSON. Members that are not known are kept.
 * @returns where it is not of the form that its type demands: a JSON pointer
 */
export function readEvent(id: string, json: object): WebhookEvent | string {
  const type: unknown = "type" in json ? json.type : undefined;
  const known = KINDS.find(({ types }) => types.includes(type as never));
  const parsed = (known === undefined ? unknownSchema : eventSchema).safeParse({ ...json, id });
  if (!parsed.success) return `/${parsed.error.issues[0]?.path.join("/") ?? ""}`;
  return { kind: known?.kind ?? "unknown", ...parsed.data } as WebhookEvent;
}

const KINDS = [
  { kind: "approval", types: APPROVAL_TYPES },
  { kind: "freeze", types: FREEZE_TYPES },
  { kind: "test", types: ["webhook.test"] },
] as const;

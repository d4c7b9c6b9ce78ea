import type { ServerResponse } from "node:http";
import type { Random } from "./fault-random";
import { answerWith, type Received, startWebhookReceiver } from "./webhook-receiver";

export type ReceivedEvent = {
  endpoint: string;
  type: string;
  approvalId: string;
  approvalSeq: number;
  data: Record<string, unknown>;
};

export type FaultReceiver = {
  /** Where the endpoint named is to send to. */
  urlFor(endpoint: string): string;
  /** The secret of an endpoint, once it has one. */
  setSecret(endpoint: string, secret: string): void;
  /** Every event that came, verified by the reference library; repetitions too. */
  events: ReceivedEvent[];
  /** Requests whose signature did not hold. */
  forged: string[];
  /** What was answered, by kind. */
  answers: Map<string, number>;
  /** From now on every request is taken. */
  behave(): void;
  stop(): Promise<void>;
};

type Mood = "taken" | "taken_unsaid" | "error" | "reset" | "hang" | "trickle" | "redirect";

/** A receiver that is in a mood with some events the first time that they come, and takes them the second time. */
export async function startFaultReceiver(random: Random, onDelivery: () => void): Promise<FaultReceiver> {
  const receiver = await startWebhookReceiver();
  const secrets = new Map<string, string>();
  const seen = new Set<string>();
  const events: ReceivedEvent[] = [];
  const forged: string[] = [];
  const answers = new Map<string, number>();
  let isGood = false;

  const take = (received: Received, endpoint: string) => {
    try {
      const { type, data } = receiver.verify(received, secrets.get(endpoint) ?? "");
      events.push({
        endpoint,
        type,
        approvalId: String(data["approvalId"]),
        approvalSeq: Number(data["approvalSeq"]),
        data,
      });
    } catch (error) {
      forged.push(`${endpoint}: ${(error as Error).message}`);
    }
  };
  receiver.answer = (received, response) => {
    receiver.received.length = 0;
    onDelivery();
    const endpoint = received.path.split("/").at(-1) ?? "";
    const key = `${endpoint} ${received.headers["webhook-id"]}`;
    const mood = isGood || seen.has(key) ? "taken" : moodOf(random);
    seen.add(key);
    answers.set(mood, (answers.get(mood) ?? 0) + 1);
    if (mood === "taken" || mood === "taken_unsaid" || mood === "trickle") take(received, endpoint);
    moods[mood](received, response);
  };
  return {
    urlFor: (endpoint) => `${receiver.url}/${endpoint}`,
    setSecret: (endpoint, secret) => secrets.set(endpoint, secret),
    events,
    forged,
    answers,
    behave: () => {
      isGood = true;
    },
    stop: () => receiver.stop(),
  };
}

function moodOf(random: Random): Mood {
  const drawn = random.next();
  if (drawn < 0.82) return "taken";
  if (drawn < 0.88) return "error";
  if (drawn < 0.92) return "reset";
  if (drawn < 0.95) return "taken_unsaid";
  if (drawn < 0.975) return "redirect";
  return drawn < 0.99 ? "trickle" : "hang";
}

const moods: Record<Mood, (received: Received, response: ServerResponse) => void> = {
  taken: (received, response) => answerWith(204)(received, response, response.req),
  error: (received, response) => answerWith(500)(received, response, response.req),
  redirect: (received, response) => answerWith(302, { location: received.path })(received, response, response.req),
  reset: (_received, response) => response.socket?.resetAndDestroy(),
  taken_unsaid: (_received, response) => response.destroy(),
  trickle: (_received, response) => {
    response.writeHead(200, { "content-length": 5 });
    let sent = 0;
    const timer = setInterval(() => {
      sent += 1;
      if (sent < 5) response.write(".");
      else response.end(".");
      if (sent === 5 || response.destroyed) clearInterval(timer);
    }, 200);
  },
  hang: () => {},
};

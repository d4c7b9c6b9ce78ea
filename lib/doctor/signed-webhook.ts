import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { newId } from "../ids/new-id";
import { joinPolicies, parseOutboundAllow } from "../outbound/policy";
import type { Service } from "../process";
import { attemptDelivery } from "../webhooks/attempt";
import { sealEndpoint } from "../webhooks/endpoint";
import { newWebhookSecret } from "../webhooks/sign";
import { type Check, check } from "./check";

type Received = { headers: IncomingMessage["headers"]; body: string };

/**
 * Sends a `webhook.test` to a receiver of its own on loopback, by the code that sends to every endpoint, and verifies it as a receiver does.
 * The endpoint is in no table: only this attempt may call loopback, and only this port. Writes nothing.
 */
export function checkSignedWebhook(service: Service): Promise<Check> {
  return check("webhook", async (found) => {
    const received: Received[] = [];
    const receiver = createServer(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      received.push({ headers: request.headers, body });
      response.writeHead(204).end();
    });
    receiver.listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const { port } = receiver.address() as AddressInfo;
    try {
      const secret = newWebhookSecret();
      const result = await send(service, `http://127.0.0.1:${port}/`, secret, port);
      if (result.kind !== "delivered") throw new Error(`The attempt ended as ${JSON.stringify(result)}.`);
      const [message] = received;
      if (!message || received.length !== 1)
        throw new Error(`The receiver was called ${received.length} times, not once.`);
      const fault = faultOf(message, secret);
      if (fault) found.failures.push(fault);
      found.facts.push("Sent, received and verified.");
    } finally {
      receiver.close();
      receiver.closeAllConnections();
    }
  });
}

async function send(service: Service, url: string, secret: string, port: number) {
  const [endpointId, clientId] = [newId("whe"), newId("cli")];
  const secretJwe = await sealEndpoint(service.secrets, { endpointId, clientId, url, secret });
  const outbound = joinPolicies(service.config.outbound, parseOutboundAllow(`127.0.0.1:${port}`).policy);
  return attemptDelivery(
    { ...service, config: { ...service.config, outbound } },
    {
      // No row has it, so nothing is written down.
      deliveryId: "0",
      lease: randomUUID(),
      attempts: 1,
      endpoint: { endpointId, clientId, url, secretJwe, previousSecretJwe: null },
      event: {
        eventUuid: randomUUID(),
        at: new Date(),
        type: "webhook.test",
        clientId,
        approvalId: null,
        approvalSeq: null,
        data: { endpointId },
        traceContext: null,
      },
    },
  );
}

/** Standard Webhooks 1.0, "verifying": HMAC-SHA256 over `id.timestamp.body`, and not older than five minutes. */
function faultOf({ headers, body }: Received, secret: string): string | undefined {
  const id = headers["webhook-id"];
  const timestamp = headers["webhook-timestamp"];
  if (typeof id !== "string" || typeof timestamp !== "string") return "What was received names no id or no time.";
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return `What was received is dated ${timestamp}.`;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest();
  const isSigned = String(headers["webhook-signature"] ?? "")
    .split(" ")
    .some((entry) => {
      const given = Buffer.from(entry.replace(/^v1,/, ""), "base64");
      return entry.startsWith("v1,") && given.length === expected.length && timingSafeEqual(given, expected);
    });
  if (!isSigned) return "The signature of what was received does not verify.";
  return (JSON.parse(body) as { type?: unknown }).type === "webhook.test"
    ? undefined
    : "What was received is of another type.";
}

import http, { type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from "node:http";
import https from "node:https";
import { OutboundError } from "./error";
import { guardedAgent } from "./guarded-agent";
import type { OutboundPolicy } from "./policy";
import type { Resolve } from "./resolve";
import { targetOf } from "./target";

export type OutboundRequest = {
  url: string;
  method: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** For everything together: name, connection, TLS, head and body of the answer. */
  timeoutMs: number;
  /** Of the answer's body. */
  maxBytes: number;
  /** `false`: the body is read to its end, within the same bounds, and dropped. */
  keepBody?: boolean;
};

/** `status` is whatever the receiver said: a redirect (RFC 9110 section 15.4) is one more status here, and its `location` is never followed. */
export type OutboundResponse = { status: number; headers: IncomingHttpHeaders; body: Uint8Array };

/**
 * Sends one request to where the policy allows, and reads the answer. Throws `OutboundError`, with the status where one had come before the
 * answer failed. Nothing is tried twice; the body is not decompressed, and none but `identity` is asked for.
 */
export function requestOutbound(
  policy: OutboundPolicy,
  request: OutboundRequest,
  options: { resolve?: Resolve; ca?: string } = {},
): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    const { protocol } = targetOf(request.url);
    const body = request.body === undefined ? undefined : Buffer.from(request.body);
    const agent = guardedAgent(
      policy,
      { timeoutMs: request.timeoutMs, maxBytes: request.maxBytes + headAllowance },
      options,
    );
    const sent = (protocol === "https:" ? https : http).request(request.url, {
      agent,
      method: request.method,
      headers: {
        ...request.headers,
        "accept-encoding": "identity",
        ...(body ? { "content-length": body.length } : {}),
      },
      maxHeaderSize,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    });
    readAnswer(sent, request).then(resolve, reject);
    sent.end(body);
  });
}

const maxHeaderSize = 16_384;

/** What the answer may have beside its body: its head, others before it (1xx), the frames of chunks. */
const headAllowance = 65_536;

function readAnswer(sent: ClientRequest, { maxBytes, keepBody = true }: OutboundRequest): Promise<OutboundResponse> {
  return new Promise((resolve, reject) => {
    let answer: IncomingMessage | undefined;
    const fail = (error: Error) => {
      sent.destroy();
      reject(toOutboundError(error, answer?.statusCode));
    };
    sent.on("error", fail);
    // Without this Node hangs up without a word on a receiver that changes the protocol.
    sent.on("upgrade", (_response, socket) => {
      socket.destroy();
      fail(new OutboundError("malformed_response"));
    });
    // Whatever Node tells no error of: nobody waits for ever.
    sent.on("close", () => fail(new OutboundError("reset")));
    sent.on("response", (response) => {
      answer = response;
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("error", fail);
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > maxBytes) fail(new OutboundError("response_too_large"));
        else if (keepBody) parts.push(part);
      });
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) }),
      );
    });
  });
}

function toOutboundError(error: Error, status: number | undefined): OutboundError {
  if (error instanceof OutboundError)
    return status === undefined
      ? error
      : new OutboundError(error.code, { message: error.message, cause: error.cause, status });
  const code = "code" in error ? String(error.code) : "";
  if (code.startsWith("HPE_")) return new OutboundError("malformed_response", { cause: error, status });
  return new OutboundError(/SSL|TLS|CERT|EPROTO/.test(code) ? "tls_failed" : "reset", { cause: error, status });
}

import { Agent, type ClientRequestArgs } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { SecureContextOptions } from "node:tls";
import { connectGuarded } from "./connect";
import { OutboundError } from "./error";
import type { OutboundPolicy } from "./policy";
import { type Resolve, resolveHost } from "./resolve";
import { defaultPorts, plainHost, type Target } from "./target";

export type Limits = {
  /** From the moment a connection is asked for until the answer is complete, however slowly it comes. */
  timeoutMs: number;
  /** Of the whole answer, head included, as it comes out of TLS; an answer that ends within the same read (64 KiB) still counts. */
  maxBytes: number;
};

/**
 * The one way out of this service: the `agent` of any `http.request` or `https.request`, a library's too. Each request gets a connection of
 * its own to an address that the policy admits, and fails with `OutboundError` where there is none, or beyond the limits. Neither Node's
 * client nor this follows a redirect, and no proxy of the environment is asked.
 */
export function guardedAgent(policy: OutboundPolicy, limits: Limits, options: { resolve?: Resolve } = {}): Agent {
  return new GuardedAgent(policy, limits, options.resolve ?? resolveHost);
}

/** The request's own port counts; where it has none, this says so until the protocol is known. Node adds it to no `Host` header. */
const noPort = -1;

class GuardedAgent extends Agent {
  // Read by Node before it asks for a connection: undefined leaves it to the module, http or https, that was called.
  readonly protocol = undefined;
  readonly defaultPort = noPort;
  readonly #policy: OutboundPolicy;
  readonly #limits: Limits;
  readonly #resolve: Resolve;

  constructor(policy: OutboundPolicy, limits: Limits, resolve: Resolve) {
    super({ keepAlive: false });
    this.#policy = policy;
    this.#limits = limits;
    this.#resolve = resolve;
  }

  override createConnection(
    options: ClientRequestArgs & SecureContextOptions,
    done?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    // Node's own agents call back with an error and nothing else.
    const answer = done as ((error: Error | null, socket?: Socket) => void) | undefined;
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new OutboundError("timeout")), this.#limits.timeoutMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      answer?.(error);
    };
    this.#connect(options, deadline.signal).then((socket) => {
      if (socket.destroyed) return fail(new OutboundError("reset"));
      deadline.signal.addEventListener("abort", () => socket.destroy(deadline.signal.reason));
      socket.once("close", () => clearTimeout(timer));
      limitBytes(socket, this.#limits.maxBytes);
      answer?.(null, socket);
    }, fail);
  }

  async #connect(options: ClientRequestArgs & SecureContextOptions, signal: AbortSignal): Promise<Socket> {
    if (options.auth) throw new OutboundError("url_refused");
    const { ca, cert, key, passphrase, pfx, crl } = options;
    const given = Object.entries({ ca, cert, key, passphrase, pfx, crl }).filter(([, value]) => value !== undefined);
    const secure: SecureContextOptions = Object.fromEntries(given);
    return connectGuarded(this.#policy, targetOfOptions(options), { resolve: this.#resolve, secure, signal });
  }
}

function targetOfOptions({ protocol, host, port }: ClientRequestArgs): Target {
  if ((protocol !== "https:" && protocol !== "http:") || !host) throw new OutboundError("url_refused");
  return { protocol, host: plainHost(host), port: Number(port) === noPort ? defaultPorts[protocol] : Number(port) };
}

function limitBytes(socket: Socket, maxBytes: number): void {
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) socket.destroy(new OutboundError("response_too_large"));
  });
}

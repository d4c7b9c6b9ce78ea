import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net";
import { connect as connectTls, type SecureContextOptions } from "node:tls";
import { parseAddress } from "./address";
import { admitTarget } from "./admit";
import { OutboundError } from "./error";
import type { OutboundPolicy } from "./policy";
import type { Resolve, ResolvedAddress } from "./resolve";
import type { Target } from "./target";

/**
 * A connection to a target at one of its admitted addresses, with TLS where the target is https. The name is resolved once, here: what was
 * judged is what is connected, so that a name that changes its mind between the two changes nothing. Where the connection then leads is
 * compared again before a byte is sent. `signal` ends whatever is under way with its reason. Throws `OutboundError`.
 */
export async function connectGuarded(
  policy: OutboundPolicy,
  target: Target,
  options: { resolve: Resolve; secure: SecureContextOptions; signal: AbortSignal },
): Promise<Socket> {
  const addresses = await unlessAborted(options.signal, admitTarget(policy, target, options.resolve));
  const socket = connectTcp({
    host: target.host,
    port: target.port,
    lookup: answering(addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    noDelay: true,
  });
  await settled(socket, "connect", "connect_failed", options.signal);
  if (!isOneOf(addresses, socket.remoteAddress)) {
    socket.destroy();
    throw new OutboundError("address_refused");
  }
  return target.protocol === "https:" ? secured(socket, target, options) : socket;
}

/** For each address but the last of several: a host that is there answers sooner. */
const attemptTimeoutMs = 1_000;

/** Whether a connection leads to one of these addresses; in doubt it does not. */
export function isOneOf(addresses: readonly ResolvedAddress[], remote: string | undefined): boolean {
  const bytes = remote === undefined ? undefined : parseAddress(remote)?.join();
  return bytes !== undefined && addresses.some(({ address }) => parseAddress(address)?.join() === bytes);
}

const answering =
  (addresses: readonly ResolvedAddress[]): LookupFunction =>
  (_host, options, done) => {
    const [first] = addresses;
    if (options.all) done(null, [...addresses]);
    else done(null, first?.address ?? "", first?.family);
  };

async function secured(
  socket: Socket,
  target: Target,
  { secure, signal }: { secure: SecureContextOptions; signal: AbortSignal },
): Promise<Socket> {
  const encrypted = connectTls({
    ...secure,
    socket,
    host: target.host,
    // RFC 6066 section 3: a name, never an address.
    ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
    ALPNProtocols: ["http/1.1"],
    // Said here, so that no variable of the environment unsays it.
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
  });
  encrypted.once("close", () => socket.destroy());
  await settled(encrypted, "secureConnect", "tls_failed", signal);
  return encrypted;
}

/** Waits for an event of a socket; on anything else the socket is destroyed and the failure thrown. */
function settled(
  socket: Socket,
  event: "connect" | "secureConnect",
  code: "connect_failed" | "tls_failed",
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (act: () => void) => {
      socket.off(event, succeed).off("error", fail).off("close", close);
      signal.removeEventListener("abort", abort);
      act();
    };
    const abandon = (reason: unknown) => {
      end(() => socket.destroy());
      reject(reason);
    };
    const succeed = () => end(resolve);
    const fail = (cause: Error) => abandon(new OutboundError(wasReset(cause) ? "reset" : code, { cause }));
    const close = () => abandon(new OutboundError("reset"));
    const abort = () => abandon(signal.reason);
    // Stays: between one holder of the socket and the next, or after the last, an error must not end the process.
    socket.on("error", () => {});
    socket.once(event, succeed).once("error", fail).once("close", close);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
  });
}

const wasReset = (error: Error) => "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");

function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

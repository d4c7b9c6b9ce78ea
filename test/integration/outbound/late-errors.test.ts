import { Duplex } from "node:stream";
import { TLSSocket, type TLSSocketOptions } from "node:tls";
import { expect, it } from "vitest";
import { parseOutboundAllow } from "@/lib/outbound/policy";
import { requestOutbound } from "@/lib/outbound/request";
import { hooksCertificate, hooksKey, receiveTcp } from "./receivers";

const { policy } = parseOutboundAllow("127.0.0.1");

/** The flight of the server that lets the client take the handshake for done (RFC 5246 section 7.3, RFC 8446 section 2). */
const lastFlights = [
  ["TLSv1.2", 2],
  ["TLSv1.3", 1],
] as const;

// The end of the handshake and the failure come out of one read. An `error` event that nobody listens to would end the process.
it.each(lastFlights)(
  "a receiver that ends its handshake with garbage fails its call, and nothing else: %s",
  async (maxVersion, last) => {
    const receiver = await receiveTcp((socket) => {
      let flights = 0;
      let flight: Buffer[] = [];
      const send = () => {
        if (flight.length === 0) return;
        flights += 1;
        socket.write(Buffer.concat([...flight, ...(flights === last ? [Buffer.alloc(64, "x")] : [])]));
        flight = [];
      };
      const wire = new Duplex({
        read: () => {},
        write: (chunk: Buffer, _encoding, done) => {
          flight.push(chunk);
          setImmediate(send);
          done();
        },
      });
      socket.on("data", (chunk) => wire.push(chunk));
      const options = { isServer: true, key: hooksKey, cert: hooksCertificate, maxVersion };
      new TLSSocket(wire, options as TLSSocketOptions).on("error", () => {});
    });
    for (let round = 0; round < 5; round += 1)
      await expect(
        requestOutbound(
          policy,
          { url: `https://127.0.0.1:${receiver.port}/`, method: "GET", timeoutMs: 3_000, maxBytes: 1_000 },
          { ca: hooksCertificate },
        ),
      ).rejects.toMatchObject({ code: "tls_failed" });
    expect(receiver.connections).toBe(5);
  },
);

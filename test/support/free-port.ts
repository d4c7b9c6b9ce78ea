import { createServer } from "node:net";

/** Ports that nobody listens on at the moment, each another one. */
export async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  await Promise.all(probes.map((probe) => new Promise<void>((done) => probe.listen(0, "127.0.0.1", done))));
  const ports = probes.map((probe) => {
    const address = probe.address();
    return typeof address === "object" && address ? address.port : 0;
  });
  await Promise.all(probes.map((probe) => new Promise((done) => probe.close(done))));
  return ports;
}

import { connect, createServer, type Socket } from "node:net";

export type SilentProxy = {
  port: number;
  /** Connections so far. */
  connections: number;
  /**
   * Forwards nothing more on the connections that there are, and closes none of them: as a network that has swallowed the other side. New
   * ones work.
   */
  fallSilent(): void;
  stop(): void;
};

/** A real TCP proxy before a port of this machine. */
export async function startSilentProxy(targetPort: number): Promise<SilentProxy> {
  const sockets = new Set<Socket>();
  let generation = 0;
  const server = createServer((downstream) => {
    const born = generation;
    proxy.connections += 1;
    const upstream = connect(targetPort, "127.0.0.1");
    for (const [from, to] of [
      [downstream, upstream],
      [upstream, downstream],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => born === generation && to.write(bytes));
      from.on("error", () => {});
      from.on("close", () => born === generation && to.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: SilentProxy = {
    port: (server.address() as { port: number }).port,
    connections: 0,
    fallSilent: () => {
      generation += 1;
    },
    stop: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
  return proxy;
}

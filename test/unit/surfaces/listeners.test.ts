import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { createListeners } from "@/app/listeners";
import type { Service } from "@/lib/process";
import { createDraining } from "@/lib/service/draining";
import { wholeListener } from "@/lib/surfaces/parse";
import { freePorts } from "@/test/support/free-port";

/** As much of a service as listeners look at; `ended` fills when waits are ended. */
function serviceOn(ports: number[]) {
  const ended: string[] = [];
  const service = {
    config: { listeners: ports.map((port) => wholeListener("127.0.0.1", port, false)) },
    draining: createDraining(),
    hub: { drain: () => ended.push("waits") },
  } as unknown as Service;
  return { service, ended };
}

describe("listeners", () => {
  it("end in time, whatever a request under way does, and end waits only after the grace", async () => {
    const [port = 0] = await freePorts(1);
    const { service, ended } = serviceOn([port]);
    let onAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      onAsked = resolve;
    });
    const listeners = createListeners(service, () => () => onAsked());
    await listeners.open();
    const socket = connect(port, "127.0.0.1");
    socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await asked;
    const cut = once(socket, "close");
    const draining = listeners.drain(50, 50);
    expect([service.draining.isBegun(), ended]).toEqual([true, []]);
    await draining;
    expect(ended).toEqual(["waits"]);
    await cut;
  });

  it("all open or none: where one address is taken, the others are given back", async () => {
    const [taken = 0, free = 0] = await freePorts(2);
    const first = createListeners(serviceOn([taken]).service, () => () => {});
    await first.open();
    const second = createListeners(serviceOn([free, taken]).service, () => () => {});
    await expect(second.open()).rejects.toThrow(/EADDRINUSE.*127\.0\.0\.1/);
    const third = createListeners(serviceOn([free]).service, () => () => {});
    await third.open();
    await Promise.all([first.drain(0, 1_000), third.drain(0, 1_000)]);
  });
});

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { withLock } from "@/lib/embedded/lock";
import { isAlive, ownIdentity, processStamp } from "@/lib/embedded/process-stamp";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "embedded-lock-"));
});
afterEach(() => rm(folder, { recursive: true }));

describe("the lock of the data folder", () => {
  it("lets one piece of work run at a time, whatever the number of callers", async () => {
    let running = 0;
    let runningMax = 0;
    const order: number[] = [];
    const work = (n: number) =>
      withLock(folder, undefined, async () => {
        running += 1;
        runningMax = Math.max(runningMax, running);
        await readdir(folder);
        order.push(n);
        running -= 1;
      });
    await Promise.all(Array.from({ length: 12 }, (_, n) => work(n)));
    expect(runningMax).toBe(1);
    expect(order.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, n) => n));
  });

  it("is released when the work throws, and hands the error on", async () => {
    await expect(withLock(folder, undefined, () => Promise.reject(new Error("broken")))).rejects.toThrow("broken");
    expect(await withLock(folder, undefined, () => Promise.resolve("next"))).toBe("next");
  });

  it("passes by a holder that was killed, and one whose process id another program got", async () => {
    const dead = await deadProcessId();
    await writeFile(join(folder, "lock.4"), JSON.stringify({ pid: dead, stamp: "x", released: false }));
    expect(await withLock(folder, undefined, () => Promise.resolve(1))).toBe(1);
    await writeFile(join(folder, "lock.9"), JSON.stringify({ pid: process.pid, stamp: "earlier", released: false }));
    expect(await withLock(folder, undefined, () => Promise.resolve(2))).toBe(2);
  });

  it("waits for a live holder and gives up with its process id after the time allowed", async () => {
    await writeFile(join(folder, "lock.1"), JSON.stringify({ ...(await ownIdentity()), released: false }));
    await expect(withLock(folder, undefined, () => Promise.resolve(), 100)).rejects.toThrow(`Process ${process.pid} `);
  });

  it("keeps exactly one ticket, readable for its owner only", async () => {
    for (const _ of [1, 2, 3]) await withLock(folder, undefined, () => Promise.resolve());
    expect(await readdir(folder)).toEqual(["lock.3"]);
    expect(JSON.parse(await readFile(join(folder, "lock.3"), "utf8"))).toMatchObject({ released: true });
  });
});

describe("the identity of a process", () => {
  it("holds for a live process and ends with it, reaped or not", async () => {
    const child = spawn(process.execPath, ["-e", "process.stdin.resume()"], { stdio: ["pipe", "ignore", "ignore"] });
    const pid = child.pid ?? 0;
    const stamp = await processStamp(pid);
    expect(stamp).toMatch(/./);
    expect(await isAlive({ pid, stamp: stamp ?? "" })).toBe(true);
    expect(await isAlive({ pid, stamp: "another life" })).toBe(false);
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await processStamp(pid)).toBeUndefined();
  });

  it("exists for no number that is not a process id", async () => {
    for (const pid of [0, -1, 1.5, Number.NaN]) expect(await processStamp(pid)).toBeUndefined();
  });
});

async function deadProcessId(): Promise<number> {
  const child = spawn(process.execPath, ["-e", ""]);
  await once(child, "exit");
  return child.pid ?? 0;
}

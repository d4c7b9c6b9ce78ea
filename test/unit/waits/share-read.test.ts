import { describe, expect, it } from "vitest";
import { shareRead } from "@/lib/waits/share-read";

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe("reads that are shared", () => {
  it("a thousand who ask at once read once", async () => {
    let reads = 0;
    const read = shareRead(async (id) => `${id} ${++reads}`);
    const results = await Promise.all(Array.from({ length: 1_000 }, () => read("a")));
    expect(new Set(results)).toEqual(new Set(["a 1"]));
    expect(await read("a")).toBe("a 2");
  });

  it("whoever asks when a read is under way gets a later one: nobody is told what was so before they asked", async () => {
    const begun: (() => void)[] = [];
    let state = "before";
    const read = shareRead(async () => {
      const seen = state;
      await new Promise<void>((resolve) => begun.push(resolve));
      return seen;
    });
    const first = read("a");
    await turn();
    await turn();
    state = "after";
    const second = read("a");
    await turn();
    await turn();
    for (const end of begun) end();
    expect([await first, await second]).toEqual(["before", "after"]);
  });

  it("a failure is everybody's who shared it, and nobody's afterwards", async () => {
    let reads = 0;
    const read = shareRead(async () => {
      reads += 1;
      if (reads === 1) throw new Error("away");
      return reads;
    });
    const both = await Promise.allSettled([read("a"), read("a")]);
    expect(both.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(await read("a")).toBe(2);
  });
});

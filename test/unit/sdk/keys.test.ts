import { localKeys, remoteKeys } from "@countersign/mcp";
import { createSigner } from "@countersign/mcp/fake/approval";
import { describe, expect, it } from "vitest";

async function setStage() {
  const [first, second] = await Promise.all([createSigner("key-1"), createSigner("key-2")]);
  const published: unknown[] = [first.publicJwk];
  const clock = { nowMs: 0 };
  const loads = { count: 0, fail: false };
  const load = async () => {
    loads.count += 1;
    if (loads.fail) throw new Error("down");
    return { keys: published };
  };
  return { published, second, clock, loads, keys: remoteKeys({ load, now: () => clock.nowMs }) };
}

describe("published keys", () => {
  it("are fetched once for many receipts", async () => {
    const { keys, loads } = await setStage();
    const found = await Promise.all([keys("key-1"), keys("key-1"), keys("key-1")]);
    expect(found.every((key) => key !== undefined)).toBe(true);
    expect(await keys("key-1")).toBeDefined();
    expect(loads.count).toBe(1);
  });

  it("a rotated key is found without waiting for the age limit", async () => {
    const { keys, published, second, clock } = await setStage();
    await keys("key-1");
    published.push(second.publicJwk);
    clock.nowMs = 10_001;
    expect(await keys("key-2")).toBeDefined();
  });

  it("made-up kids cause at most one fetch in 10 seconds", async () => {
    const { keys, loads, clock } = await setStage();
    await keys("key-1");
    clock.nowMs = 10_001;
    for (let n = 0; n < 50; n += 1) expect(await keys(`made-up-${n}`)).toBeUndefined();
    expect(loads.count).toBe(2);
  });

  it("a key that is published no more is not used beyond 300 seconds", async () => {
    const { keys, published, clock } = await setStage();
    await keys("key-1");
    published.pop();
    clock.nowMs = 300_001;
    expect(await keys("key-1")).toBeUndefined();
  });

  it("I13: once the set is too old and cannot be fetched, nothing verifies", async () => {
    const { keys, clock, loads } = await setStage();
    await keys("key-1");
    loads.fail = true;
    clock.nowMs = 300_001;
    await expect(keys("key-1")).rejects.toThrow("down");
  });

  it("keys of another kind are passed over", async () => {
    const { publicJwk } = await createSigner("key-1");
    const keys = await localKeys({
      keys: [
        publicJwk,
        { kty: "oct", kid: "key-2", k: "AAAA" },
        { kty: "OKP", crv: "X25519", kid: "key-3", x: publicJwk.x },
      ],
    });
    expect(await keys("key-1")).toBeDefined();
    expect(await keys("key-2")).toBeUndefined();
    expect(await keys("key-3")).toBeUndefined();
  });
});

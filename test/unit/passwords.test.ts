import { describe, expect, it } from "vitest";
import { withHashSlot } from "@/lib/passwords/gate";
import { hashPassword, isTooLong, passwordMax, passwordMin, verifyPassword } from "@/lib/passwords/hash";
import { Problem } from "@/lib/problem";

const password = "correct horse battery staple";

describe("hashPassword", () => {
  it("makes argon2id hashes with the promised costs, never the same one twice", async () => {
    const [one, two] = await Promise.all([hashPassword(password), hashPassword(password)]);
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(one).not.toBe(two);
  });

  it("counts characters, not code units, and refuses what is too short or too long", async () => {
    await expect(hashPassword("😀".repeat(passwordMin - 1))).rejects.toThrow(RangeError);
    await expect(hashPassword("x".repeat(passwordMax + 1))).rejects.toThrow("12 to 200");
    await expect(hashPassword("😀".repeat(passwordMax))).resolves.toContain("$argon2id$");
  });
});

describe("verifyPassword", () => {
  it("accepts the password, however its accents were typed, and no other", async () => {
    const stored = await hashPassword("ein langes Wörtchen");
    expect(await verifyPassword(stored, "ein langes Wo\u0308rtchen")).toBe(true);
    expect(await verifyPassword(stored, "ein langes Wortchen")).toBe(false);
    expect(await verifyPassword(stored, "ein langes Wörtchen ")).toBe(false);
  });

  it("is false without a stored hash, and does not throw: nobody learns who has an account", async () => {
    expect(await verifyPassword(undefined, password)).toBe(false);
    expect(await verifyPassword(null, password)).toBe(false);
  });

  it("does not even hash what is too long to be a password", async () => {
    expect(await verifyPassword(await hashPassword(password), "x".repeat(100_000))).toBe(false);
    expect([isTooLong("😀".repeat(passwordMax)), isTooLong("😀".repeat(passwordMax + 1))]).toEqual([false, true]);
  });
});

describe("the gate of hashing", () => {
  it("lets two run and fifty wait, refuses the next as unavailable, and runs all the others in order", async () => {
    const order: number[] = [];
    const releases: (() => void)[] = [];
    let running = 0;
    let most = 0;
    const work = (n: number) =>
      withHashSlot("stranger", async () => {
        running += 1;
        most = Math.max(most, running);
        order.push(n);
        await new Promise<void>((resolve) => releases.push(resolve));
        running -= 1;
      });
    const all = Array.from({ length: 52 }, (_, n) => work(n));
    await expect(withHashSlot("stranger", async () => {})).rejects.toMatchObject({
      code: "unavailable",
    } satisfies Partial<Problem>);
    const finished = Promise.all(all).then(() => true);
    let isFinished = false;
    while (!isFinished) {
      for (const release of releases.splice(0)) release();
      isFinished = await Promise.race([finished, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
    }
    expect(most).toBe(2);
    expect(order).toEqual(Array.from({ length: 52 }, (_, n) => n));
  });

  it("serves those who are known first, and has room for them where fifty strangers wait", async () => {
    const order: string[] = [];
    const releases: (() => void)[] = [];
    const work = (who: "known" | "stranger") =>
      withHashSlot(who, async () => {
        order.push(who);
        await new Promise<void>((resolve) => releases.push(resolve));
      });
    const all = [
      ...Array.from({ length: 52 }, () => work("stranger")),
      ...Array.from({ length: 50 }, () => work("known")),
    ];
    for (const who of ["stranger", "known"] as const)
      await expect(withHashSlot(who, async () => {})).rejects.toMatchObject({ code: "unavailable" });
    const finished = Promise.all(all).then(() => true);
    let isFinished = false;
    while (!isFinished) {
      for (const release of releases.splice(0)) release();
      isFinished = await Promise.race([finished, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]);
    }
    const expected = [
      ["stranger", 2],
      ["known", 50],
      ["stranger", 50],
    ] as const;
    expect(order).toEqual(expected.flatMap(([who, count]) => Array.from({ length: count }, () => who)));
  });

  it("hands the place on when a hash fails", async () => {
    const failing = Array.from({ length: 4 }, () =>
      withHashSlot("stranger", async () => {
        throw new Problem("internal");
      }),
    );
    expect((await Promise.allSettled(failing)).map((result) => result.status)).toEqual(Array(4).fill("rejected"));
    expect(await withHashSlot("stranger", async () => "done")).toBe("done");
  });
});

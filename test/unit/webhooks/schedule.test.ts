import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attemptsMax, nextDelaySeconds, retryAfterSeconds } from "@/lib/webhooks/schedule";

describe("the schedule of attempts", () => {
  it("is that of the standard: ten attempts within three to four days, the first two five seconds apart", () => {
    const delays = Array.from({ length: attemptsMax - 1 }, (_, i) => nextDelaySeconds(i + 1, 0) ?? 0);
    expect(delays.slice(0, 3)).toEqual([5, 300, 1_800]);
    const days = delays.reduce((sum, delay) => sum + delay, 0) / 86_400;
    expect(days).toBeGreaterThan(3);
    expect(days * 1.1).toBeLessThan(4);
    expect(nextDelaySeconds(attemptsMax, 0)).toBeUndefined();
  });

  it("spreads what failed together, by a tenth at most", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: attemptsMax - 1 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (n, random) => {
          const [least, delay] = [nextDelaySeconds(n, 0) ?? 0, nextDelaySeconds(n, random) ?? 0];
          return delay >= least && delay <= least * 1.1;
        },
      ),
    );
  });

  it("waits as long as the receiver asked, at most a day, and never shorter than it would have", () => {
    expect(nextDelaySeconds(1, 0, 60)).toBe(60);
    expect(nextDelaySeconds(2, 0, 60)).toBe(300);
    expect(nextDelaySeconds(1, 0, 10 ** 9)).toBe(86_400);
    expect(nextDelaySeconds(attemptsMax, 0, 60)).toBeUndefined();
  });
});

describe("Retry-After", () => {
  const now = new Date("2026-12-01T12:00:00Z");
  it.each([
    ["120", 120],
    ["Tue, 01 Dec 2026 12:02:00 GMT", 120],
    ["Tue, 01 Dec 2026 11:00:00 GMT", 0],
    ["-5", 0],
    ["soon", 0],
    ["1e99", 0],
    [undefined, 0],
  ])("%s means %d seconds", (header, seconds) => expect(retryAfterSeconds(header, now)).toBe(seconds));
});

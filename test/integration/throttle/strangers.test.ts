import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { deviceCookie, readDeviceCookie } from "@/lib/throttle/device-cookie";
import { type AttemptFrom, authenticate } from "@/lib/users/authenticate";
import { addPerson, password } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { countHashes } from "@/test/support/hashes";

let one: TestService;
let two: TestService;
let service: Service;

beforeAll(async () => {
  one = await createTestService();
  two = await createTestService({
    databaseUrl: one.databaseUrl,
    ...(one.service.config.secret ? { secret: one.service.config.secret } : {}),
  });
  ({ service } = one);
});
afterAll(async () => {
  await two.stop();
  await one.stop();
});

/** What came of an attempt: `in`, `no`, or why not. */
async function attempt(email: string, given: string, from: AttemptFrom, at = service): Promise<string> {
  try {
    return (await authenticate(at, email, given, from)) ? "in" : "no";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === "throttled") expect(error.extras.retryAfterSeconds).toBeGreaterThanOrEqual(1);
    return error.code;
  }
}

const guessAt = (email: string, from: AttemptFrom, at = service) => attempt(email, "not the right password", from, at);
const unknownEmail = () => `nobody-${randomUUID()}@example.com`;
const countOf = (answers: string[], answer: string) => answers.filter((one) => one === answer).length;

async function deviceOf(userId: string): Promise<string> {
  const cookie = (await deviceCookie(service, userId)).split(";")[0] ?? "";
  return readDeviceCookie(service, new Headers({ cookie })) ?? "";
}

describe("strangers at one network", () => {
  it("who try one password at 300 accounts are stopped after 30, and nobody elsewhere is", async () => {
    const from = { address: "203.0.113.1" };
    const answers: string[] = [];
    const { hashes } = await countHashes(async () => {
      for (let i = 0; i < 300; i += 1) answers.push(await guessAt(unknownEmail(), from));
    });
    expect([hashes, countOf(answers, "no"), countOf(answers, "throttled")]).toEqual([30, 30, 270]);
    const owner = await addPerson(service);
    expect(await attempt(owner.email, password, from)).toBe("throttled");
    expect(await attempt(owner.email, password, { address: "203.0.113.2" })).toBe("in");
    await service.pool.query(`UPDATE "throttle" SET "last_at" = "last_at" - INTERVAL '61 seconds'`);
    expect(await guessAt(unknownEmail(), from)).toBe("no");
  });

  it("who try at the same moment, over two replicas, are stopped after 30 as well", async () => {
    const from = { address: "203.0.113.3" };
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) => guessAt(unknownEmail(), from, i % 2 === 0 ? service : two.service)),
    );
    expect([countOf(answers, "no"), countOf(answers, "throttled")]).toEqual([30, 70]);
  });

  it("who have a whole IPv6 site are stopped after 90, from whichever of its networks", async () => {
    const from = (network: number) => ({ address: `2001:db8:9:${network.toString(16)}::1` });
    const answers: string[] = [];
    for (let i = 0; i < 100; i += 1) answers.push(await guessAt(unknownEmail(), from(i)));
    expect([countOf(answers.slice(0, 90), "no"), countOf(answers.slice(90), "throttled")]).toEqual([90, 10]);
    expect(await guessAt(unknownEmail(), { address: "2001:db8:a:1::1" })).toBe("no");
  });

  it("fill no gate: with 80 of them at it, the owner gets in on a known device, steps up, and signs in elsewhere", async () => {
    const owner = await addPerson(service);
    const device = await deviceOf(owner.userId);
    const from = { address: "203.0.113.4" };
    let isOver = false;
    const attackers = Array.from({ length: 80 }, async () => {
      const answers: string[] = [];
      while (!isOver) answers.push(await guessAt(unknownEmail(), from));
      return answers;
    });
    const answers: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      answers.push(await attempt(owner.email, password, { ...from, device }));
      answers.push(await attempt(owner.email, password, { ...from, session: `ses_${i}` }));
      answers.push(await attempt(owner.email, password, { address: `198.51.100.${i}` }));
    }
    isOver = true;
    const seen = (await Promise.all(attackers)).flat();
    expect(answers).toEqual(Array.from({ length: 30 }, () => "in"));
    expect([countOf(seen, "no"), countOf(seen, "unavailable")]).toEqual([30, 0]);
  });

  it("even from a hundred networks at once, keep out no known device and no step-up", async () => {
    const owner = await addPerson(service);
    const device = await deviceOf(owner.userId);
    const attackers = Promise.all(
      Array.from({ length: 300 }, (_, i) => guessAt(unknownEmail(), { address: `198.18.1.${i % 100}` })),
    );
    const answers: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      answers.push(await attempt(owner.email, password, { address: "198.18.1.1", device }));
      answers.push(await attempt(owner.email, password, { address: "198.18.1.1", session: `ses_b${i}` }));
    }
    expect(answers).toEqual(Array.from({ length: 10 }, () => "in"));
    expect(countOf(await attackers, "unavailable")).toBeGreaterThan(0);
  });
});

describe("an office behind one address", () => {
  it("signs in as often as it likes: only what is wrong counts", async () => {
    const from = { address: "203.0.113.9" };
    const owner = await addPerson(service);
    for (let i = 0; i < 40; i += 1) expect(await attempt(owner.email, password, from)).toBe("in");
    expect(await guessAt(unknownEmail(), from)).toBe("no");
  });

  it("where 30 were wrong in a minute still signs in on devices that it has signed in on before", async () => {
    const from = { address: "203.0.113.10" };
    const owner = await addPerson(service);
    for (let i = 0; i < 31; i += 1) await guessAt(unknownEmail(), from);
    expect(await attempt(owner.email, password, from)).toBe("throttled");
    expect(await attempt(owner.email, password, { ...from, device: await deviceOf(owner.userId) })).toBe("in");
  });
});

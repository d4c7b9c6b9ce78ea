import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { deviceCookie, readDeviceCookie } from "@/lib/throttle/device-cookie";
import { pruneThrottles } from "@/lib/throttle/prune";
import { type AttemptFrom, authenticate } from "@/lib/users/authenticate";
import { setPassword } from "@/lib/users/set-password";
import { addPerson, type Person, password } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { countHashes, withFullGate } from "@/test/support/hashes";

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

const wrong = "not the right password";
/** Another network for each test: what a network tries is counted over all accounts. */
let here = { address: "192.0.2.1" };
let networks = 1;
beforeEach(() => {
  networks += 1;
  here = { address: `192.0.2.${networks}` };
});

/** Refusals are recorded beside the answers: after this, all of them are. */
const settled = () =>
  vi.waitFor(() => {
    for (const { pool } of [one.service, two.service])
      expect([pool.totalCount - pool.idleCount, pool.waitingCount]).toEqual([0, 0]);
  });
afterEach(settled);

/** What came of an attempt: `in`, `no`, or the seconds to wait. */
async function attempt(at: Service, email: string, given: string, from: AttemptFrom): Promise<"in" | "no" | number> {
  try {
    return (await authenticate(at, email, given, from)) ? "in" : "no";
  } catch (error) {
    if (error instanceof Problem && error.code === "throttled") return error.extras.retryAfterSeconds ?? Number.NaN;
    throw error;
  }
}

const guess = (email: string, from: AttemptFrom = here, at = service) => attempt(at, email, wrong, from);

async function guessTimes(count: number, email: string, from: AttemptFrom = here) {
  const answers: ("in" | "no" | number)[] = [];
  for (let i = 0; i < count; i += 1) answers.push(await guess(email, from));
  return answers;
}

/** Everything that was counted is so old from now on: the database's clock cannot be set. */
const setAge = (seconds: number) =>
  service.pool.query(`UPDATE "throttle" SET "last_at" = clock_timestamp() - make_interval(secs => $1)`, [seconds]);

/** Guesses that all count, since a minute passes before each. */
async function failTimes(count: number, email: string, from: AttemptFrom = here): Promise<void> {
  for (let i = 0; i < count; i += 1) {
    await setAge(60);
    expect(await guess(email, from)).toBe("no");
  }
}

const eventsAt = (address: string) =>
  service.prisma.auditEvent.count({
    where: { type: "security.throttled", data: { path: ["address"], equals: address } },
  });

const counts = () => service.prisma.throttle.findMany({ orderBy: { key: "asc" } });

/** By how much all counts together grew. */
async function failuresSince(work: () => Promise<unknown>): Promise<number> {
  const sum = async () => (await counts()).reduce((total, { failures }) => total + failures, 0);
  const before = await sum();
  await work();
  return (await sum()) - before;
}

const unknownEmail = () => `nobody-${randomUUID()}@example.com`;

async function deviceFor(person: Person): Promise<string> {
  const cookie = (await deviceCookie(service, person.userId)).split(";")[0] ?? "";
  return readDeviceCookie(service, new Headers({ cookie })) ?? "";
}

/** As somebody does who tries everything from everywhere: the account waits for a minute at the end. */
async function hammer(email: string): Promise<void> {
  for (let i = 0; i < 12; i += 1) await guess(email, { address: `203.0.113.${i}` });
  await setAge(0);
}

describe("guessing at an account", () => {
  it("costs nothing three times, then 1, 2, 4 … and at most 60 seconds, for known and unknown accounts alike", async () => {
    for (const email of [(await addPerson(service)).email, unknownEmail()]) {
      expect(await guessTimes(3, email)).toEqual(["no", "no", "no"]);
      for (const wait of [1, 2, 4, 8, 16, 32, 60, 60]) {
        await setAge(0);
        expect(await guess(email)).toBe(wait);
        await setAge(wait - 0.5);
        expect(await guess(email)).toBe(1);
        await setAge(wait);
        expect(await guess(email)).toBe("no");
      }
    }
  });

  it("while it has to wait, nothing is verified, not even the right password, and nothing is prolonged", async () => {
    const { email } = await addPerson(service);
    await failTimes(6, email);
    expect(await guess(email)).toBe(8);
    await settled();
    const before = await counts();
    const { result, hashes } = await countHashes(async () => [
      await attempt(service, email, password, here),
      ...(await guessTimes(20, email)),
    ]);
    expect([result.filter((answer) => typeof answer === "number").length, hashes]).toEqual([21, 0]);
    expect(await counts()).toEqual(before);
    await setAge(8);
    expect(await attempt(service, email, password, here)).toBe("in");
  });

  it("a hundred at the same moment, over two replicas, are a handful that is verified", async () => {
    for (const email of [(await addPerson(service)).email, unknownEmail()]) {
      const { result, hashes } = await countHashes(() =>
        Promise.all(Array.from({ length: 100 }, (_, i) => guess(email, here, i % 2 === 0 ? service : two.service))),
      );
      // Three at once; a fourth and a fifth only where all of it takes longer than one and three seconds.
      expect(hashes).toBeGreaterThanOrEqual(3);
      expect(hashes).toBeLessThanOrEqual(5);
      expect(result.filter((answer) => answer === "no")).toHaveLength(hashes);
    }
  });

  it("from many addresses at the same moment, each address gets one, and all of them two more", async () => {
    const { email } = await addPerson(service);
    const sources = Array.from({ length: 20 }, (_, i) => ({ address: `198.51.100.${i}` }));
    const { hashes } = await countHashes(() =>
      Promise.all(sources.flatMap((from) => [from, from, from]).map((from) => guess(email, from))),
    );
    expect(hashes).toBeGreaterThanOrEqual(20);
    expect(hashes).toBeLessThanOrEqual(22);
  });

  it("counts an address in any case, with any space around it, as the same account", async () => {
    const { email } = await addPerson(service);
    const spellings = [
      email,
      email.toUpperCase(),
      `  ${email}\t`,
      `\u3000${email}\n`,
      `${email[0]?.toUpperCase()}${email.slice(1)}`,
    ];
    const answers = await Promise.all(
      Array.from({ length: 50 }, (_, i) => guess(spellings[i % spellings.length] ?? "")),
    );
    const verified = answers.filter((answer) => answer === "no").length;
    expect(verified).toBeGreaterThanOrEqual(3);
    expect(verified).toBeLessThanOrEqual(5);
  });

  it("counts all addresses of one IPv6 network as one source", async () => {
    const { email } = await addPerson(service);
    await failTimes(6, email, { address: "2001:db8:1:2::1" });
    expect(await guess(email, { address: "2001:db8:1:2:ffff::9" })).toBe(8);
    expect(await guess(email, { address: "2001:db8:1:3::1" })).toBe("no");
  });

  it("is the same work and the same answer for a wrong password, an unknown and a disabled account", async () => {
    const known = await addPerson(service);
    const disabled = await addPerson(service);
    await service.pool.query(`UPDATE "user" SET "disabled_at" = now() WHERE "id" = $1`, [disabled.userId]);
    const tries = [
      () => attempt(service, known.email, wrong, here),
      () => attempt(service, unknownEmail(), password, here),
      () => attempt(service, disabled.email, password, here),
    ];
    for (const run of tries) expect(await countHashes(run)).toEqual({ result: "no", hashes: 1 });
  });

  it("is forgotten an hour after the last failure, and then deleted", async () => {
    const email = unknownEmail();
    await failTimes(6, email);
    await setAge(3_590);
    expect(await guessTimes(2, email)).toEqual(["no", 16]);
    await setAge(3_601);
    expect(await guessTimes(3, email)).toEqual(["no", "no", "no"]);
    await setAge(3_601);
    await pruneThrottles(service.pool);
    expect(await service.prisma.throttle.count()).toBe(0);
  });

  it("an attempt that could not be verified for want of room is not held against anybody", async () => {
    const { email } = await addPerson(service);
    await failTimes(2, email);
    for (const account of [email, unknownEmail()]) {
      const grown = await failuresSince(() =>
        expect(withFullGate(() => guess(account))).rejects.toMatchObject({ code: "unavailable" }),
      );
      expect(grown).toBe(0);
    }
  });

  it("an attempt that could not be verified leaves every count and every instant as they were", async () => {
    const { email } = await addPerson(service);
    await failTimes(6, email);
    for (const [account, age] of [
      [email, 60],
      [unknownEmail(), 60],
      [email, 3_599],
    ] as const) {
      await setAge(age);
      const before = await counts();
      await expect(withFullGate(() => guess(account))).rejects.toMatchObject({ code: "unavailable" });
      const changed = (await counts()).filter((row) => !before.some((old) => isDeepStrictEqual(old, row)));
      expect(changed).toEqual([]);
    }
    await setAge(8);
    expect(await guess(email)).toBe("no");
  });

  it("while it has to wait costs two reads and no write", async () => {
    const { email } = await addPerson(service);
    await failTimes(9, email);
    await setAge(0);
    expect(await guess(email)).toBe(60);
    await settled();
    expect(await eventsAt(here.address)).toBe(1);
    const before = await counts();
    const [queries, connections] = [vi.spyOn(service.pool, "query"), vi.spyOn(service.pool, "connect")];
    const answers = await guessTimes(20, email);
    // One for the user, one for the counts; a transaction would connect by itself.
    const seen = [queries.mock.calls.length, connections.mock.calls.length];
    for (const spy of [queries, connections]) spy.mockRestore();
    expect(answers.every((answer) => answer === 60 || answer === 59)).toBe(true);
    expect(seen).toEqual([40, 40]);
    expect(await counts()).toEqual(before);
  });

  it("with more than 200 characters is simply wrong: not counted, not verified, and no reason to wait", async () => {
    const { email } = await addPerson(service);
    await failTimes(9, email);
    await setAge(0);
    const before = await counts();
    for (const account of [email, unknownEmail()])
      expect(await countHashes(() => attempt(service, account, "x".repeat(201), here))).toEqual({
        result: "no",
        hashes: 0,
      });
    expect(await counts()).toEqual(before);
  });
});

describe("whoever has the right password", () => {
  it("gets in on a known device while strangers hammer at the account from elsewhere", async () => {
    const owner = await addPerson(service);
    const device = await deviceFor(owner);
    await hammer(owner.email);
    expect(await guess(owner.email, { address: "203.0.113.0" })).toBe(60);
    // Also where the strangers share the owner's address.
    expect(await attempt(service, owner.email, password, { address: "203.0.113.0", device })).toBe("in");
    expect(await attempt(service, owner.email, password, { address: "203.0.113.0", device })).toBe("in");
  });

  it("gets in at an address that has tried nothing yet", async () => {
    const owner = await addPerson(service);
    await hammer(owner.email);
    expect(await attempt(service, owner.email, password, { address: "192.0.2.77" })).toBe("in");
    expect(await attempt(service, owner.email, password, { address: "192.0.2.77" })).toBe("in");
  });

  it("gets in on the other replica, which counts the same", async () => {
    const owner = await addPerson(service);
    await failTimes(6, owner.email);
    expect(await attempt(two.service, owner.email, password, here)).toBe(8);
    expect(await attempt(two.service, owner.email, password, { address: "192.0.2.78" })).toBe("in");
  });

  it("starts anew after signing in, as if the attempt had not been one", async () => {
    const owner = await addPerson(service);
    await guessTimes(2, owner.email);
    const signIn = () => attempt(service, owner.email, password, here);
    // Its own count goes, and with it what this source got wrong before.
    expect(await failuresSince(signIn)).toBe(-2);
    expect(await failuresSince(signIn)).toBe(0);
    for (let i = 0; i < 10; i += 1) expect(await attempt(service, owner.email, password, here)).toBe("in");
  });

  it("steps up in their own session while strangers hammer, and guessing in one session slows down that session", async () => {
    const owner = await addPerson(service);
    await hammer(owner.email);
    expect(await attempt(service, owner.email, password, { address: "203.0.113.0", session: "ses_owner" })).toBe("in");
    expect(await guessTimes(2, owner.email, { session: "ses_thief" })).toEqual(["no", 60]);
    expect(await attempt(service, owner.email, password, { session: "ses_owner" })).toBe("in");
  });
});

describe("a device cookie", () => {
  it("is of one user, unchanged, made here, and no older than 180 days; else the address counts", async () => {
    const owner = await addPerson(service);
    const stranger = await addPerson(service, "Eve");
    const good = await deviceFor(owner);
    const [id = "", issuedAt = "", proof = ""] = good.split(".");
    const other = await createTestService();
    const elsewhere = { ...service, secrets: other.service.secrets };
    const foreign = (await deviceCookie(elsewhere, owner.userId)).split(/[=;]/)[1] ?? "";
    await other.stop();
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() - 181 * 86_400_000 });
    const old = await deviceFor(owner);
    vi.useRealTimers();
    const bad = [
      await deviceFor(stranger),
      foreign,
      old,
      `${id}.${Number(issuedAt) + 1}.${proof}`,
      `${"A".repeat(22)}.${issuedAt}.${proof}`,
      `${id}.${issuedAt}.${"A".repeat(43)}`,
      `${good}.`,
      "",
      "nonsense",
    ];
    await failTimes(9, owner.email);
    for (const device of bad) {
      await setAge(0);
      expect(await guess(owner.email, { ...here, device })).toBe(60);
    }
    expect(await guess(owner.email, { ...here, device: good })).toBe("no");
  });

  it("is worth nothing any more once the password is another", async () => {
    const owner = await addPerson(service);
    const device = await deviceFor(owner);
    await failTimes(9, owner.email);
    await setAge(0);
    expect(await attempt(service, owner.email, password, { ...here, device })).toBe("in");
    const next = "quite another long password";
    await setPassword(service, { user: owner.email, password: next }, { kind: "admin", via: "cli" });
    expect(await attempt(service, owner.email, next, { ...here, device })).toBe(60);
    expect(await attempt(service, owner.email, next, { ...here, device: await deviceFor(owner) })).toBe("in");
  });

  it("names nobody, is not for scripts and not sent from other sites, and is __Host- on https", async () => {
    const { userId } = await addPerson(service);
    const plain = await deviceCookie(service, userId);
    expect(plain).toMatch(/^countersign\.device=[\w.-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=15552000$/);
    expect(plain).not.toContain(userId.slice(4));
    const secure = await deviceCookie(
      { ...service, config: { ...service.config, url: "https://approve.example.com" } },
      userId,
    );
    expect(secure).toMatch(/^__Host-countersign\.device=.*; Secure$/);
  });
});

describe("the history of throttling", () => {
  const events = async () => {
    const rows = await service.prisma.auditEvent.findMany({
      where: { type: "security.throttled" },
      orderBy: { seq: "asc" },
    });
    return rows.map(({ actor, data }) => ({ actor, data }));
  };

  it("holds one event an hour for a network and a known user, and none that tells what was typed", async () => {
    const owner = await addPerson(service);
    const from = (i: number) => ({ address: `2001:db8:77:1::${i}` });
    const before = (await events()).length;
    for (const email of [owner.email, unknownEmail(), unknownEmail()]) {
      await failTimes(6, email, from(0));
      for (let i = 1; i < 6; i += 1) expect(await guess(email, from(i))).toBeTypeOf("number");
    }
    await settled();
    expect((await events()).length).toBe(before + 2);
    const [known, unknown] = (await events()).slice(before);
    expect(known).toMatchObject({
      actor: { kind: "service" },
      data: { what: "password", address: expect.stringMatching(/^2001:db8:77:1::/), userId: owner.userId },
    });
    expect(unknown?.data).toEqual({ what: "password", address: expect.stringMatching(/^2001:db8:77:1::/) });
  });
});

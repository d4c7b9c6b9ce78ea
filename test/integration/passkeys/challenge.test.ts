import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ChallengeBinding, dropExpiredChallenges, issueChallenge, takeChallenge } from "@/lib/passkeys/challenge";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;
beforeAll(async () => {
  t = await createTestService();
});
afterAll(() => t.stop());

const approvalId = "apr_00000000000000000000000001";
const decide = { purpose: "decide", sid: "ses_1", approvalId } as const;

describe("a challenge", () => {
  it("is taken once, with the nonce and the instant that it was issued with", async () => {
    const { pool } = t.service;
    const { challenge, issuedAt } = await issueChallenge(pool, { ...decide, nonce: "n" });
    const takers = await Promise.all([1, 2, 3].map(() => takeChallenge(pool, { ...decide, challenge })));
    expect(takers.filter(Boolean)).toEqual([{ nonce: "n", issuedAt }]);
    expect(Buffer.from(challenge, "base64url")).toHaveLength(32);
  });

  it("is gone, and counts for nothing, once it was taken for another session, approval or purpose", async () => {
    const { pool } = t.service;
    for (const other of [
      { ...decide, sid: "ses_2" },
      { ...decide, approvalId: "apr_00000000000000000000000002" },
      { purpose: "decide", sid: decide.sid },
      { purpose: "decide", approvalId },
      { ...decide, purpose: "register" },
      { ...decide, purpose: "sign_in" },
    ] as const) {
      const { challenge } = await issueChallenge(pool, { ...decide, nonce: "n" });
      expect(await takeChallenge(pool, { ...other, challenge })).toBeUndefined();
      expect(await takeChallenge(pool, { ...decide, challenge })).toBeUndefined();
    }
  });

  it("counts for two minutes by the database's clock, whatever the row says of its end", async () => {
    const { pool } = t.service;
    const old = async (interval: string) => {
      const { challenge } = await issueChallenge(pool, { ...decide, nonce: "n" });
      await pool.query(
        `UPDATE "passkey_challenge" SET "issued_at" = now() - $2::interval, "expires_at" = now() + INTERVAL '1 h' WHERE "challenge" = $1`,
        [challenge, interval],
      );
      return takeChallenge(pool, { ...decide, challenge });
    };
    expect(await old("120 s")).toBeUndefined();
    expect(await old("110 s")).toBeDefined();
    const { challenge } = await issueChallenge(pool, { ...decide, nonce: "n" });
    await pool.query(`UPDATE "passkey_challenge" SET "expires_at" = now() WHERE "challenge" = $1`, [challenge]);
    expect(await takeChallenge(pool, { ...decide, challenge })).toBeUndefined();
  });

  it("is one of five at most that a session has open for one thing: a sixth takes the place of the oldest, and of nobody else's", async () => {
    const { pool } = t.service;
    const issue = async (of: ChallengeBinding, ageSeconds: number) => {
      const issuedAt = new Date(Date.now() - ageSeconds * 1000);
      return { ...of, challenge: (await issueChallenge(pool, { ...of, nonce: "n", issuedAt })).challenge };
    };
    const takes = async (of: Awaited<ReturnType<typeof issue>>) => (await takeChallenge(pool, of)) !== undefined;
    const here: ChallengeBinding = { purpose: "register", sid: "ses_asks" };
    for (const [asking, others] of [
      [decide, [{ ...decide, sid: "ses_other" }, { ...decide, approvalId: approvalId.replace("1", "2") }, here]],
      [here, [{ ...here, sid: "ses_other" }, { ...here, purpose: "sign_in" }, decide]],
    ] as [ChallengeBinding, ChallengeBinding[]][]) {
      const elsewhere = await Promise.all(others.map((of) => issue(of, 100)));
      const asked: Awaited<ReturnType<typeof issue>>[] = [];
      for (const ageSeconds of [70, 60, 50, 40, 30, 20, 10]) asked.push(await issue(asking, ageSeconds));
      expect(await Promise.all(asked.map(takes))).toEqual([false, false, true, true, true, true, true]);
      expect(await Promise.all(elsewhere.map(takes))).toEqual([true, true, true]);
    }
  });

  it("is cleared away once nobody can answer it any more", async () => {
    const { pool, prisma } = t.service;
    const live = await issueChallenge(pool, { ...decide, nonce: "n" });
    const issuedAt = new Date(Date.now() - 180_000);
    const dead = await issueChallenge(pool, { ...decide, nonce: "n", issuedAt });
    expect(dead.issuedAt).toEqual(issuedAt);
    expect(await dropExpiredChallenges(pool)).toBe(1);
    const left = await prisma.passkeyChallenge.findMany();
    expect(left.map(({ challenge }) => challenge)).toEqual([live.challenge]);
  });
});

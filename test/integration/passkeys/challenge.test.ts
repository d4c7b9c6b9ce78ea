import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropExpiredChallenges, issueChallenge, takeChallenge } from "@/lib/passkeys/challenge";
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

import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;

beforeAll(async () => {
  t = await createTestService();
});
afterAll(() => t.stop());

it("what a mint looks for is found along indexes, also by a connection that made its plans when there was nothing", async () => {
  const db = await t.service.pool.connect();
  const tag = randomBytes(32);
  await db.query("BEGIN");
  // PostgreSQL keeps one plan for all values from the sixth call on.
  for (let i = 0; i < 12; i += 1) {
    await db.query(`SELECT * FROM mint_window('cli_1', 'iss', 'sub', ARRAY[$1::bytea], true)`, [tag]);
    await db.query(`SELECT is_code_taken('iss', 'sub', ARRAY[$1::bytea])`, [tag]);
  }
  const { rows } = await db.query(
    `SELECT "relname" FROM pg_class WHERE "relnamespace" = 'public'::regnamespace
       AND "relname" IN ('approval', 'decline_cooldown', 'freeze') AND pg_stat_get_xact_numscans("oid") > 0`,
  );
  await db.query("ROLLBACK");
  db.release();
  expect(rows).toEqual([]);
});

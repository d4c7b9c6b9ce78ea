import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createKey } from "@/lib/api-keys/create";
import { consume } from "@/lib/approvals/consume";
import { checkScratch } from "@/lib/doctor/check-scratch";
import { checkConsumeRace } from "@/lib/doctor/consume-race";
import { type Scratch, withScratch } from "@/lib/doctor/scratch";
import { checkSignedWebhook } from "@/lib/doctor/signed-webhook";
import { checkTamperedRow } from "@/lib/doctor/tampered-row";
import { addUser } from "@/lib/users/add";
import { apiFor, mintBody } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { queryAs } from "@/test/support/service-role";

const actor = { kind: "admin", via: "cli" } as const;

let t: TestService;
beforeAll(async () => {
  t = await createTestService({ databasePoolMax: 12 });
});
afterAll(() => t.stop());

const rowsOf = async (sql: string, values: unknown[] = []) => (await t.service.pool.query(sql, values)).rows;

/** What must be so whenever no doctor is at work. */
async function expectNothingLeft(): Promise<void> {
  expect(await rowsOf(`SELECT * FROM "api_key"`)).toEqual([]);
  expect(await rowsOf(`SELECT * FROM "user"`)).toEqual([]);
  expect(await rowsOf(`SELECT * FROM "identity"`)).toEqual([]);
  expect(await rowsOf(`SELECT * FROM "session"`)).toEqual([]);
  expect(await rowsOf(`SELECT "name", "disabled_at" IS NOT NULL AS "disabled" FROM "client"`)).toEqual([
    { name: "doctor", disabled: true },
  ]);
  expect(await rowsOf(`SELECT * FROM "approval" WHERE "settled_at" IS NULL`)).toEqual([]);
}

describe("the scratch approval", () => {
  it("leaves one disabled client, settled approvals and its history; no key, no person, no alarm", async () => {
    for (let run = 0; run < 2; run += 1) {
      const checks = await checkScratch(t.service, actor, undefined);
      expect(checks.map(({ name, status }) => [name, status])).toEqual([
        ["scratch approval", "ok"],
        ["tampered row", "ok"],
        ["consume race", "ok"],
      ]);
      await expectNothingLeft();
    }
    const history = await rowsOf(`SELECT "type", count(*)::int AS "n" FROM "audit_event" GROUP BY 1 ORDER BY 1`);
    expect(Object.fromEntries(history.map(({ type, n }) => [type, n]))).toEqual({
      "admin.client_added": 1,
      "admin.key_created": 2,
      "admin.key_revoked": 2,
      "admin.user_added": 2,
      "admin.user_disabled": 2,
      "approval.accepted": 2,
      "approval.consumed": 2,
      "approval.minted": 2,
      "approval.outcome": 2,
      "person.signed_in": 2,
    });
  });

  it("is cleared when the work fails, and with it what a killed command has left", async () => {
    await expect(
      withScratch(t.service, actor, async (scratch) => {
        await scratch.ask();
        const { id } = await scratch.ask();
        await scratch.accept(id);
        throw new Error("cut short");
      }),
    ).rejects.toThrow("cut short");
    await expectNothingLeft();
    const [{ id: clientId }] = (await rowsOf(`SELECT "id" FROM "client"`)) as [{ id: string }];
    await t.service.pool.query(`UPDATE "client" SET "disabled_at" = NULL`);
    await createKey(t.service, { clientId }, actor);
    await addUser(
      t.service,
      { email: "doctor-left@doctor.invalid", name: "doctor", password: "long enough for a password" },
      actor,
    );
    await checkScratch(t.service, actor, undefined);
    await expectNothingLeft();
  });

  it("can be used for nothing else, and for nothing afterwards", async () => {
    let kept: { scratch: Scratch; id: string } | undefined;
    await withScratch(t.service, actor, async (scratch) => {
      const approval = await scratch.ask();
      await scratch.accept(approval.id);
      kept = { scratch, id: approval.id };
      const api = apiFor(t.service, scratch.apiKey);
      const other = await api("POST", "/approvals", mintBody(scratch.caller));
      expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([403, "tool_not_allowed"]);
    });
    if (!kept) throw new Error("nothing was asked");
    const { scratch, id } = kept;
    const api = apiFor(t.service, scratch.apiKey);
    expect((await api("GET", `/approvals/${id}`)).status).toBe(401);
    const consumerToken = randomBytes(32).toString("base64url");
    await expect(
      consume(t.service, scratch.key, id, {
        caller: scratch.caller,
        consumerToken,
        actionDigest: `sha256:${"0".repeat(64)}`,
      }),
    ).rejects.toMatchObject({ code: "not_accepted" });
  });

  it("is made by one doctor at a time", async () => {
    const both = await Promise.all([1, 2].map(() => checkScratch(t.service, actor, undefined)));
    const made = both.map((checks) => checks.find(({ name }) => name === "scratch approval"));
    expect(made.map((check) => check?.status).sort()).toEqual(["failed", "ok"]);
    const failed = both.find((checks) => checks[0]?.status === "failed");
    expect(failed?.map(({ status, message }) => [status, message])).toEqual([
      ["failed", expect.stringContaining("Another doctor is at work")],
      ["warning", "Not checked: there is no scratch approval."],
      ["warning", "Not checked: there is no scratch approval."],
    ]);
    await expectNothingLeft();
  });
});

describe("the checks of the gate can fail", () => {
  // A database that forgets: each consumption is written as if it had not been.
  const forget = `CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      NEW.consumed_at := NULL; NEW.consumer_hash := NULL; NEW.version := OLD.version; RETURN NEW; END $$;
    CREATE TRIGGER forget BEFORE UPDATE ON "approval" FOR EACH ROW WHEN (NEW.consumed_at IS NOT NULL) EXECUTE FUNCTION forget()`;

  it("I5: where more than one attempt is granted, the race says so", async () => {
    await withScratch(t.service, actor, async (scratch) => {
      const approval = await scratch.ask();
      await scratch.accept(approval.id);
      await queryAs(t.databaseUrl, forget);
      try {
        const check = await checkConsumeRace(t.service, scratch, approval);
        expect(check).toMatchObject({
          status: "failed",
          message: expect.stringMatching(/attempts at once 20 were granted, not one: STOP/),
        });
      } finally {
        await queryAs(t.databaseUrl, `DROP TRIGGER forget ON "approval"; DROP FUNCTION forget()`);
      }
    });
  });

  it("I17: where a row is granted whatever it says, the forgeries are told one by one; nothing of them is committed", async () => {
    await withScratch(t.service, actor, async (scratch) => {
      const approval = await scratch.ask();
      await scratch.accept(approval.id);
      const before = await rowsOf(`SELECT * FROM "approval" WHERE "id" = $1`, [approval.id]);
      // A trigger that undoes every change to the row, but consuming it: as if nobody had looked at what was changed.
      await queryAs(
        t.databaseUrl,
        `CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN OLD; END $$;
         CREATE TRIGGER undo BEFORE UPDATE ON "approval" FOR EACH ROW WHEN (NEW.consumed_at IS NULL) EXECUTE FUNCTION undo()`,
      );
      try {
        const check = await checkTamperedRow(t.service, scratch, approval);
        expect(check.status).toBe("failed");
        for (const what of [
          "a longer time to act",
          "another person",
          "another caller",
          "another action",
          "another record",
          "another receipt",
        ])
          expect(check.message).toContain(`changed to ${what} was granted`);
        expect(check.message).toContain("forged receipt was read out");
      } finally {
        await queryAs(t.databaseUrl, `DROP TRIGGER undo ON "approval"; DROP FUNCTION undo()`);
      }
      expect(await rowsOf(`SELECT * FROM "approval" WHERE "id" = $1`, [approval.id])).toEqual(before);
      expect(await checkTamperedRow(t.service, scratch, approval)).toMatchObject({ status: "ok" });
      expect(await rowsOf(`SELECT * FROM "approval" WHERE "id" = $1`, [approval.id])).toEqual(before);
    });
    expect(await rowsOf(`SELECT 1 FROM "audit_event" WHERE "type" = 'approval.receipt_refused'`)).toEqual([]);
  });

  it("the webhook to itself is sent though loopback may not be called, and allows nobody else to", async () => {
    expect(await checkSignedWebhook(t.service)).toMatchObject({ status: "ok" });
    expect(t.service.config.outbound).toEqual({ hosts: [], ranges: [] });
    expect(await rowsOf(`SELECT 1 FROM "webhook_endpoint" UNION ALL SELECT 1 FROM "webhook_attempt"`)).toEqual([]);
  });
});

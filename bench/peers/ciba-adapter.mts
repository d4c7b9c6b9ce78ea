import type { Adapter, AdapterConstructor, AdapterPayload } from "oidc-provider";
import type pg from "pg";

/**
 * oidc-provider's models as rows of one table: one statement an operation, prepared, over the pool. The payload is text, which costs
 * less than `jsonb`; what is looked up stands in columns of its own.
 */
export async function createAdapter(pool: pg.Pool): Promise<AdapterConstructor> {
  await pool.query(
    `CREATE TABLE IF NOT EXISTS "model" ("kind" text NOT NULL, "id" text NOT NULL, "payload" text NOT NULL, "grant_id" text,
      "uid" text, "user_code" text, "expires_at" timestamptz, "consumed_at" timestamptz, PRIMARY KEY ("kind", "id"))`,
  );
  // What the provider looks up, and nothing more: each index costs every insert.
  await pool.query(`CREATE INDEX IF NOT EXISTS "model_grant" ON "model" ("grant_id") WHERE "grant_id" IS NOT NULL`);
  return class implements Adapter {
    readonly #kind: string;

    constructor(kind: string) {
      this.#kind = kind;
    }

    async upsert(id: string, payload: AdapterPayload, expiresInSeconds: number): Promise<void> {
      await pool.query({
        name: "upsert",
        text: `INSERT INTO "model" ("kind", "id", "payload", "grant_id", "uid", "user_code", "expires_at")
          VALUES ($1, $2, $3, $4, $5, $6, now() + $7 * interval '1 second')
          ON CONFLICT ("kind", "id") DO UPDATE SET "payload" = excluded."payload", "grant_id" = excluded."grant_id",
            "uid" = excluded."uid", "user_code" = excluded."user_code", "expires_at" = excluded."expires_at"`,
        values: [
          this.#kind,
          id,
          JSON.stringify(payload),
          payload.grantId,
          payload.uid,
          payload.userCode,
          expiresInSeconds,
        ],
      });
    }

    find(id: string): Promise<AdapterPayload | undefined> {
      return this.#read("find", `"id" = $2`, id);
    }

    findByUid(uid: string): Promise<AdapterPayload | undefined> {
      return this.#read("findByUid", `"uid" = $2`, uid);
    }

    findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
      return this.#read("findByUserCode", `"user_code" = $2`, userCode);
    }

    async consume(id: string): Promise<void> {
      const text = `UPDATE "model" SET "consumed_at" = now() WHERE "kind" = $1 AND "id" = $2`;
      await pool.query({ name: "consume", text, values: [this.#kind, id] });
    }

    async destroy(id: string): Promise<void> {
      const text = `DELETE FROM "model" WHERE "kind" = $1 AND "id" = $2`;
      await pool.query({ name: "destroy", text, values: [this.#kind, id] });
    }

    async revokeByGrantId(grantId: string): Promise<void> {
      await pool.query({ name: "revoke", text: `DELETE FROM "model" WHERE "grant_id" = $1`, values: [grantId] });
    }

    async #read(name: string, where: string, value: string): Promise<AdapterPayload | undefined> {
      const { rows } = await pool.query<{ payload: string; consumedAt: number | null }>({
        name,
        text: `SELECT "payload", floor(extract(epoch FROM "consumed_at"))::float8 AS "consumedAt" FROM "model"
          WHERE "kind" = $1 AND ${where} AND "expires_at" > now()`,
        values: [this.#kind, value],
      });
      const row = rows[0];
      if (!row) return undefined;
      const payload = JSON.parse(row.payload) as AdapterPayload;
      return row.consumedAt === null ? payload : { ...payload, consumed: row.consumedAt };
    }
  };
}

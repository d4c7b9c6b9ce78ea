import pg from "pg";
import { describe, expect, it } from "vitest";
import { draftSql } from "@/prisma/draft-sql";
import { createDatabase } from "@/test/support/database";

const columnsSql = `SELECT table_name, column_name, data_type, udt_name, is_nullable, column_default, datetime_precision
  FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_prisma_migrations' ORDER BY 1, 2`;
const indexesSql = `SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> '_prisma_migrations' ORDER BY 1, 2`;
const keysSql = `SELECT conrelid::regclass::text AS "table", pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace AND contype IN ('p', 'u', 'f') AND conrelid::regclass::text <> '_prisma_migrations' ORDER BY 1, 2`;

/** What Prisma's schema cannot say, and the migrations add. */
const beyondPrisma = [
  "approval_live_key",
  "approval_due_idx",
  "approval_unsettled_idx",
  "approval_erasable_idx",
  "approval_match_key",
  "outbox_undispatched_idx",
  "webhook_delivery_due_idx",
];

async function shapeOf(url: string) {
  const db = new pg.Client({ connectionString: url });
  await db.connect();
  const [columns, indexes, keys] = [await db.query(columnsSql), await db.query(indexesSql), await db.query(keysSql)];
  await db.end();
  return {
    columns: columns.rows,
    keys: keys.rows,
    indexes: indexes.rows.filter((row) => !beyondPrisma.some((name) => String(row.indexdef).includes(name))),
  };
}

describe("the migrations and schema.prisma", () => {
  it("make the same tables, columns, keys and indexes", async () => {
    const migrated = await createDatabase();
    const drafted = await createDatabase("");
    const db = new pg.Client({ connectionString: drafted });
    await db.connect();
    await db.query(await draftSql(drafted));
    await db.end();
    expect(await shapeOf(migrated)).toEqual(await shapeOf(drafted));
  });
});

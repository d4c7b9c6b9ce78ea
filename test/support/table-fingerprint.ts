import type { Service } from "@/lib/process";

/** Rows that a refusal may write: that somebody guesses, and what security noticed. */
const refusalsMayWrite: Record<string, string> = {
  throttle: "false",
  audit_event: `"type" NOT LIKE 'security.%'`,
};

/**
 * A query that tells whether a row of any table was added, changed or removed since it was asked last: of each table how many rows there
 * are, the newest transaction that wrote one of them, and the sum of these. What refusals may write does not count.
 */
export async function createFingerprint({ pool }: Service): Promise<() => Promise<string>> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT "tablename" AS "name" FROM pg_tables WHERE "schemaname" = 'public' AND "tablename" <> '_prisma_migrations' ORDER BY 1`,
  );
  if (tables.length < 10) throw new Error("where are the tables?");
  const parts = tables.map(
    ({ name }) =>
      `(SELECT '${name} ' || count(*) || ' ' || coalesce(max("xmin"::text::bigint), 0) || ' ' || coalesce(sum("xmin"::text::bigint), 0)
        FROM "${name}" WHERE ${refusalsMayWrite[name] ?? "true"})`,
  );
  const text = `SELECT concat_ws(E'\\n', ${parts.join()}) AS "all"`;
  return async () => {
    const { rows } = await pool.query<{ all: string }>({ name: "fingerprint", text });
    return rows[0]?.all ?? "";
  };
}

/** The tables that differ between two fingerprints. */
export function changedTables(before: string, after: string): string[] {
  const known = new Set(before.split("\n"));
  return after.split("\n").filter((line) => !known.has(line));
}

import type pg from "pg";
import { type Check, check } from "./check";

/** Whether the history can be changed: by the triggers of its table and of each of its parts, and by what the role that serves may do. */
export function checkHistory(pool: pg.Pool): Promise<Check> {
  return check("history", async (found) => {
    const { rows } = await pool.query<Part>(partsSql);
    if (rows.length === 0) throw new Error("There is no table audit_event: run `countersign migrate`.");
    for (const { name, role, isOpenToRows, isOpenToTruncate, mayChange } of rows) {
      if (isOpenToRows || isOpenToTruncate)
        found.failures.push(
          `${name} has no trigger that refuses ${isOpenToRows ? "UPDATE and DELETE" : "TRUNCATE"}: make it again as docs/audit.md shows, and find out who took it off.`,
        );
      if (mayChange)
        found.warnings.push(`The role ${role} may change ${name}: take UPDATE, DELETE and TRUNCATE from it.`);
    }
    const [first] = rows;
    if (first?.isOwner)
      found.warnings.push(
        `The role ${first.role} could take the triggers off: it owns the table, may become its owner, or is a superuser. Let the service run as a second role (docs/audit.md, «Two roles»).`,
      );
    found.facts.push(
      `Append-only by triggers${rows.length > 1 ? ` on ${rows.length} parts` : ""} and by the rights of ${first?.role}.`,
    );
  });
}

type Part = {
  name: string;
  role: string;
  isOpenToRows: boolean;
  isOpenToTruncate: boolean;
  mayChange: boolean;
  isOwner: boolean;
};

// Bits of pg_trigger.tgtype: 1 of a row, 2 before, 8 DELETE, 16 UPDATE, 32 TRUNCATE. Only ALWAYS is not skipped by session_replication_role.
const guard = (bits: number) => `EXISTS (SELECT 1 FROM "pg_trigger" t JOIN "pg_proc" p ON p."oid" = t."tgfoid"
  WHERE t."tgrelid" = c."oid" AND t."tgenabled" = 'A' AND p."proname" = 'audit_event_append_only' AND t."tgqual" IS NULL AND (t."tgtype" & ${bits}) = ${bits})`;

const partsSql = `
WITH RECURSIVE part AS (
  SELECT to_regclass('audit_event')::oid AS "oid" WHERE to_regclass('audit_event') IS NOT NULL
  UNION ALL SELECT i."inhrelid" FROM "pg_inherits" i JOIN part ON i."inhparent" = part."oid")
SELECT c."oid"::regclass::text AS "name", current_user::text AS "role",
  NOT ${guard(1 | 2 | 8 | 16)} AS "isOpenToRows", NOT ${guard(2 | 32)} AS "isOpenToTruncate",
  has_table_privilege(c."oid", 'UPDATE, DELETE, TRUNCATE') AND NOT pg_has_role(c."relowner", 'MEMBER') AS "mayChange",
  pg_has_role(c."relowner", 'MEMBER') AS "isOwner"
FROM "pg_class" c JOIN part USING ("oid") ORDER BY c."oid" = to_regclass('audit_event')::oid DESC, 1`;

import type pg from "pg";
import { transact } from "./transact";

/**
 * Gives `role`, as which the service runs, what it needs on everything that the role of `owner` has in its schema, and takes back what it was
 * given beyond: the history it may read and append to, the months of a partitioned one and the list of migrations it may read, all other
 * tables it may read and write, and it may define nothing. Tables to come it may read and append to until this runs again. Returns the
 * statements that were needed; none where all is as it should be. Several processes may call it at once.
 */
export async function grantRuntime(owner: pg.Pool, role: string): Promise<string[]> {
  return transact(owner, async (db) => {
    // Two that change the rights on one table at the same moment fail.
    await db.query("SELECT pg_advisory_xact_lock(hashtextextended('countersign/grants', 0))");
    const objects = await db.query<Owned>(ownedSql, [role]);
    const defaults = await db.query<Default>(defaultsSql, [role]);
    const statements = [
      ...objects.rows.flatMap((object) => changesOf(object, role)),
      ...defaults.rows.map(
        ({ schema, privileges, kind }) =>
          `ALTER DEFAULT PRIVILEGES IN SCHEMA ${schema} GRANT ${privileges} ON ${kind} TO ${quoted(role)}`,
      ),
    ];
    for (const statement of statements) await db.query(statement);
    return statements;
  });
}

type Owned = {
  kind: "SCHEMA" | "TABLE" | "SEQUENCE" | "FUNCTION";
  /** Quoted, with the schema, as a statement names it. */
  target: string;
  name: string;
  /** What this very role was given. */
  given: string[];
  /** What it has in whatever way, as by PUBLIC or as a member of another role. */
  held: string[];
};
type Default = { schema: string; privileges: string; kind: string };

function wantedOf({ kind, name }: Owned): string[] {
  if (kind === "SCHEMA") return ["USAGE"];
  if (kind === "SEQUENCE") return ["SELECT", "USAGE"];
  if (kind === "FUNCTION") return ["EXECUTE"];
  if (name === "audit_event") return ["INSERT", "SELECT"];
  // A month of the history, attached or detached, is never written by its own name.
  if (name.startsWith("audit_event") || name === "_prisma_migrations") return ["SELECT"];
  return ["DELETE", "INSERT", "SELECT", "UPDATE"];
}

function changesOf(object: Owned, role: string): string[] {
  const wanted = wantedOf(object);
  const on = `ON ${object.kind} ${object.target}`;
  const excessive = object.given.filter((privilege) => !wanted.includes(privilege));
  const missing = wanted.filter((privilege) => !object.held.includes(privilege));
  return [
    ...(excessive.length > 0 ? [`REVOKE ${excessive.join(", ")} ${on} FROM ${quoted(role)}`] : []),
    ...(missing.length > 0 ? [`GRANT ${missing.join(", ")} ${on} TO ${quoted(role)}`] : []),
  ];
}

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

const givenSql = (acl: string) =>
  `ARRAY(SELECT "privilege_type"::text FROM aclexplode(${acl}) WHERE "grantee" = to_regrole(quote_ident($1)))`;
const heldSql = (kind: string, oid: string, privileges: string[]) =>
  `array_remove(ARRAY[${privileges
    .map((privilege) => `CASE WHEN has_${kind}_privilege($1, ${oid}, '${privilege}') THEN '${privilege}' END`)
    .join(", ")}], NULL)`;

const ownedSql = `
SELECT 'SCHEMA' AS "kind", quote_ident(n."nspname") AS "target", n."nspname"::text AS "name", ${givenSql('n."nspacl"')} AS "given",
  ${heldSql("schema", 'n."oid"', ["USAGE"])} AS "held"
FROM "pg_namespace" n WHERE n."nspname" = current_schema()
UNION ALL
SELECT 'TABLE', c."oid"::regclass::text, c."relname"::text, ${givenSql('c."relacl"')},
  ${heldSql("table", 'c."oid"', ["DELETE", "INSERT", "SELECT", "UPDATE"])}
FROM "pg_class" c WHERE c."relnamespace" = to_regnamespace(quote_ident(current_schema())) AND c."relkind" IN ('r', 'p')
  AND pg_get_userbyid(c."relowner") = current_user
UNION ALL
SELECT 'SEQUENCE', c."oid"::regclass::text, c."relname"::text, ${givenSql('c."relacl"')}, ${heldSql("sequence", 'c."oid"', ["SELECT", "USAGE"])}
FROM "pg_class" c WHERE c."relnamespace" = to_regnamespace(quote_ident(current_schema())) AND c."relkind" = 'S'
  AND pg_get_userbyid(c."relowner") = current_user
UNION ALL
SELECT 'FUNCTION', p."oid"::regprocedure::text, p."proname"::text, ${givenSql('p."proacl"')}, ${heldSql("function", 'p."oid"', ["EXECUTE"])}
FROM "pg_proc" p WHERE p."pronamespace" = to_regnamespace(quote_ident(current_schema())) AND p."prokind" = 'f'
  AND pg_get_userbyid(p."proowner") = current_user`;

// A new table can be read and appended to before this has run again, and is never more open than the history may be.
const defaultsSql = `
SELECT quote_ident(current_schema()) AS "schema", w."privileges", w."kind"
FROM (VALUES ('r', 'TABLES', 'SELECT, INSERT'), ('S', 'SEQUENCES', 'SELECT, USAGE')) AS w("type", "kind", "privileges")
WHERE NOT EXISTS (SELECT 1 FROM "pg_default_acl" d, aclexplode(d."defaclacl") a
  WHERE d."defaclrole" = current_user::regrole AND d."defaclnamespace" = to_regnamespace(quote_ident(current_schema()))
    AND d."defaclobjtype" = w."type"::"char" AND a."grantee" = to_regrole(quote_ident($1)))`;

import type { Service } from "../process";
import { policySchema } from "./policy";

export type ListedClient = {
  clientId: string;
  name: string;
  policyVersion: number;
  issuers: string[];
  /** Empty: every tool. */
  tools: string[];
  createdAt: Date;
  isDisabled: boolean;
  /** Frozen for everybody: it can neither ask nor consume. */
  isFrozen: boolean;
  /** False where the stored policy is none: then it can ask for nothing. */
  isPolicyReadable: boolean;
  /** How many people have frozen it for themselves ("I didn't ask for this"), now. */
  frozenByPeople: number;
};

/** Every registered client, or the one of this id, with what its policy in force lets it ask, the oldest first. */
export async function listClients(service: Service, filter: { clientId?: string } = {}): Promise<ListedClient[]> {
  const { clientId } = filter;
  // PostgreSQL cannot be asked for it.
  if (clientId?.includes("\u0000")) return [];
  const only = clientId === undefined ? {} : { clientId };
  const { prisma, pool } = service;
  const [rows, policies, freezes] = await Promise.all([
    prisma.client.findMany({
      where: clientId === undefined ? {} : { id: clientId },
      orderBy: [{ createdAt: "asc" }, { id: "asc" }],
    }),
    prisma.clientPolicy.findMany({
      where: only,
      distinct: ["clientId"],
      orderBy: [{ clientId: "asc" }, { version: "desc" }],
    }),
    pool.query<FreezeRow>(freezesSql, [clientId ?? null]),
  ]);
  const policyOf = new Map(policies.map((row) => [row.clientId, policySchema.safeParse(row.policy).data]));
  const freezesOf = new Map(freezes.rows.map((row) => [row.client_id, row]));
  return rows.map((row) => {
    const frozen = freezesOf.get(row.id);
    return {
      clientId: row.id,
      name: row.name,
      policyVersion: row.policyVersion,
      issuers: policyOf.get(row.id)?.issuers ?? [],
      tools: policyOf.get(row.id)?.tools ?? [],
      createdAt: row.createdAt,
      isDisabled: row.disabledAt !== null,
      isFrozen: frozen?.is_frozen ?? false,
      isPolicyReadable: policyOf.get(row.id) !== undefined,
      frozenByPeople: frozen?.people ?? 0,
    };
  });
}

type FreezeRow = { client_id: string; is_frozen: boolean; people: number };

/** Subjects of one user are one person. */
const freezesSql = `
SELECT f."client_id", bool_or(f."subject_sub" IS NULL) AS "is_frozen",
  count(DISTINCT coalesce(i."user_id", f."subject_iss" || E'\\n' || f."subject_sub")) FILTER (WHERE f."subject_sub" IS NOT NULL)::int AS "people"
FROM "freeze" f LEFT JOIN "identity" i ON i."iss" = f."subject_iss" AND i."sub" = f."subject_sub"
WHERE f."lifted_at" IS NULL AND (f."until" IS NULL OR f."until" > clock_timestamp()) AND ($1::text IS NULL OR f."client_id" = $1)
GROUP BY f."client_id"`;

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
  /** How many people have frozen it for themselves ("I didn't ask for this"), now. */
  frozenByPeople: number;
};

/** Every registered client with what its policy in force lets it ask, the oldest first. */
export async function listClients(service: Service): Promise<ListedClient[]> {
  const { prisma } = service;
  const [rows, policies, freezes] = await Promise.all([
    prisma.client.findMany({ orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
    prisma.clientPolicy.findMany({ distinct: ["clientId"], orderBy: [{ clientId: "asc" }, { version: "desc" }] }),
    prisma.freeze.findMany({ where: { liftedAt: null, OR: [{ until: null }, { until: { gt: new Date() } }] } }),
  ]);
  const policyOf = new Map(policies.map((row) => [row.clientId, policySchema.parse(row.policy)]));
  return rows.map((row) => {
    const own = freezes.filter((freeze) => freeze.clientId === row.id);
    const people = new Set(
      own.filter((f) => f.subjectSub !== null).map((f) => JSON.stringify([f.subjectIss, f.subjectSub])),
    );
    return {
      clientId: row.id,
      name: row.name,
      policyVersion: row.policyVersion,
      issuers: policyOf.get(row.id)?.issuers ?? [],
      tools: policyOf.get(row.id)?.tools ?? [],
      createdAt: row.createdAt,
      isDisabled: row.disabledAt !== null,
      isFrozen: own.some((freeze) => freeze.subjectSub === null),
      frozenByPeople: people.size,
    };
  });
}

import type { Subject } from "../approvals/approval";
import type { Service } from "../process";
import { listPersonFreezes } from "./list-freezes";
import { policySchema } from "./policy";

/** A client that may ask people of an issuer, and what stands between it and one of them. */
export type AskingClient = {
  clientId: string;
  name: string;
  isDisabled: boolean;
  isFrozen: boolean;
  /** Frozen by this person until then. */
  frozenUntil: Date | undefined;
  /** For which tools its policy wants a passkey, whatever the request says; `*` is every tool that is not named. */
  passkeyTools: string[];
};

/** The clients whose policy in force names the subject's issuer, the oldest first. */
export async function listAskingClients(service: Service, subject: Subject): Promise<AskingClient[]> {
  const { prisma, pool } = service;
  const [rows, policies, everybody, own] = await Promise.all([
    prisma.client.findMany({ orderBy: [{ createdAt: "asc" }, { id: "asc" }] }),
    prisma.clientPolicy.findMany({ distinct: ["clientId"], orderBy: [{ clientId: "asc" }, { version: "desc" }] }),
    prisma.freeze.findMany({ where: { liftedAt: null, subjectSub: null, until: null } }),
    listPersonFreezes(pool, { subjects: [subject] }),
  ]);
  return rows.flatMap((row) => {
    const stored = policies.find(({ clientId }) => clientId === row.id);
    const policy = stored && policySchema.parse(stored.policy);
    if (!policy?.issuers.includes(subject.iss)) return [];
    return {
      clientId: row.id,
      name: row.name,
      isDisabled: row.disabledAt !== null,
      isFrozen: everybody.some(({ clientId }) => clientId === row.id),
      frozenUntil: own.find(({ clientId }) => clientId === row.id)?.until,
      passkeyTools: [
        ...(policy.default.passkey === "required" ? ["*"] : []),
        ...policy.perTool.filter(({ passkey }) => passkey === "required").map(({ tool }) => tool),
      ],
    };
  });
}

/** Every issuer that a policy in force names. */
export async function listPolicyIssuers(service: Service): Promise<string[]> {
  const policies = await service.prisma.clientPolicy.findMany({
    distinct: ["clientId"],
    orderBy: [{ clientId: "asc" }, { version: "desc" }],
  });
  return [...new Set(policies.flatMap(({ policy }) => policySchema.parse(policy).issuers))];
}

import type { Subject } from "../approvals/approval";
import type { Service } from "../process";
import { listPersonFreezes } from "./list-freezes";
import { policySchema } from "./policy";

/** A client that may ask people of an issuer, and what stands between it and one of them. */
export type AskingClient = {
  clientId: string;
  name: string;
  /** False where the stored policy is none: whom it would name is unknown, and it can ask for nothing. */
  isPolicyReadable: boolean;
  isDisabled: boolean;
  isFrozen: boolean;
  /** Frozen by this person until then. */
  frozenUntil: Date | undefined;
  /** For which tools its policy wants a passkey, whatever the request says; `*` is every tool that is not named. */
  passkeyTools: string[];
};

/** The clients whose policy in force names the subject's issuer or cannot be read, the oldest first. */
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
    const policy = policySchema.safeParse(stored?.policy).data;
    if (policy && !policy.issuers.includes(subject.iss)) return [];
    return {
      clientId: row.id,
      name: row.name,
      isPolicyReadable: policy !== undefined,
      isDisabled: row.disabledAt !== null,
      isFrozen: everybody.some(({ clientId }) => clientId === row.id),
      frozenUntil: own.find(({ clientId }) => clientId === row.id)?.until,
      passkeyTools: [
        ...(policy?.default.passkey === "required" ? ["*"] : []),
        ...(policy?.perTool ?? []).filter(({ passkey }) => passkey === "required").map(({ tool }) => tool),
      ],
    };
  });
}

/** Every issuer that a policy in force names; one that cannot be read names none. */
export async function listPolicyIssuers(service: Service): Promise<string[]> {
  const policies = await service.prisma.clientPolicy.findMany({
    distinct: ["clientId"],
    orderBy: [{ clientId: "asc" }, { version: "desc" }],
  });
  return [...new Set(policies.flatMap(({ policy }) => policySchema.safeParse(policy).data?.issuers ?? []))];
}

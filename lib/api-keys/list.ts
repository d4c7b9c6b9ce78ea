import type { Service } from "../process";

export type ListedKey = {
  keyId: string;
  clientId: string;
  clientName: string;
  scopes: string[];
  /** Empty: every tool that the policy allows. */
  tools: string[];
  createdAt: Date;
  revokedAt: Date | null;
};

/** Every API key, revoked ones too, the oldest first; of one client where it is named. Nothing secret is in it. */
export async function listKeys(service: Service, clientId?: string): Promise<ListedKey[]> {
  const rows = await service.prisma.apiKey.findMany({
    ...(clientId === undefined ? {} : { where: { clientId } }),
    omit: { secretHash: true },
    include: { client: { select: { name: true } } },
    orderBy: [{ createdAt: "asc" }, { keyId: "asc" }],
  });
  return rows.map(({ client, ...key }) => ({ ...key, clientName: client.name }));
}

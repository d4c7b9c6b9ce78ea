import type { Service } from "../process";
import { isAuthenticSigningKey } from "./signing-key";

export type ListedSigningKey = {
  kid: string;
  /** `next`: published, and signs later; `unauthentic`: not written with our secret, so not in use. */
  status: "next" | "active" | "retired" | "revoked" | "unauthentic";
  activeFrom: Date;
  retiredAt: Date | null;
  revokedAt: Date | null;
};

/** The keys that this service signs and has signed with, newest first; never a private part. */
export async function listSigningKeys(service: Service): Promise<ListedSigningKey[]> {
  const rows = await service.prisma.signingKey.findMany({ orderBy: { activeFrom: "desc" } });
  return rows.map((row) => {
    const { kid, activeFrom, retiredAt, revokedAt } = row;
    const isNext = row.status === "active" && activeFrom > new Date();
    const status = isNext ? "next" : (row.status as ListedSigningKey["status"]);
    return {
      kid,
      status: isAuthenticSigningKey(service.secrets, row) ? status : "unauthentic",
      activeFrom,
      retiredAt,
      revokedAt,
    };
  });
}

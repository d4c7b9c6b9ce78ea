import { type ReceiptExpectation, type ReceiptVerdict, verifyReceipt } from "@countersign/mcp/receipt";
import type { KeyRing } from "../keys/key-ring";

/**
 * What a receipt is worth as history. `genuine`: by a key that holds. By a key that was revoked since: `before_revocation` where it is dated
 * before, so genuine as far as its own date can be trusted, which whoever has the key can choose; else `unproven`. `refused`: see the verdict.
 */
export type JudgedReceipt = { verdict: ReceiptVerdict } & (
  | { standing: "genuine" | "refused" }
  | { standing: "before_revocation" | "unproven"; revokedAt: Date }
);

/** As `verifyReceipt` with the keys of this deployment, revoked ones too. To read history with: only a genuine receipt decides or grants. */
export async function judgeReceipt(
  { keys }: { keys: KeyRing },
  jws: string,
  expected: Omit<ReceiptExpectation, "keys">,
  revokedKids: readonly string[] = [],
): Promise<JudgedReceipt> {
  let revokedAt: Date | undefined;
  const verdict = await verifyReceipt(jws, {
    ...expected,
    keys: async (kid) => {
      const key = await keys.find(kid, revokedKids);
      const revoked = key ? undefined : keys.findRevoked(kid);
      revokedAt = revoked?.revokedAt;
      return key ?? revoked?.publicKey;
    },
  });
  if (!verdict.ok) return { verdict, standing: "refused" };
  if (!revokedAt) return { verdict, standing: "genuine" };
  const isBefore = verdict.claims.iat * 1000 < revokedAt.getTime();
  return { verdict, standing: isBefore ? "before_revocation" : "unproven", revokedAt };
}

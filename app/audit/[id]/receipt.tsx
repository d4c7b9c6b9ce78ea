import { getTranslations } from "next-intl/server";
import type { AuditedApproval, AuditVerdict } from "@/lib/audit/read";

type Props = { receipt: AuditedApproval["receipt"] };

/** The receipt of an end, and whether it is genuine. */
export async function Receipt({ receipt }: Props) {
  const t = await getTranslations("audit");
  return (
    <>
      <h2 className="heading mt-6 mb-2">{t("receipt")}</h2>
      <div className="card">
        <p className={`row font-semibold ${receipt && !reliable.has(receipt.verdict) ? "text-danger" : ""}`}>
          {receipt ? await verdictText(receipt) : t("noReceipt")}
        </p>
        {receipt ? (
          <details className="row">
            <summary className="label">{t("showReceipt")}</summary>
            <p className="mt-2 font-mono text-xs break-all">{receipt.text}</p>
          </details>
        ) : null}
      </div>
    </>
  );
}

async function verdictText({ verdict, revokedAt }: NonNullable<Props["receipt"]>): Promise<string> {
  const t = await getTranslations("audit");
  // As a receipt itself writes an instant: RFC 3339, whole seconds.
  const at = revokedAt ? `${revokedAt.toISOString().slice(0, 19)}Z` : "";
  switch (verdict) {
    case "genuine":
      return t("genuine");
    case "row_mismatch":
      return t("rowMismatch");
    case "before_revocation":
      return t("beforeRevocation", { at });
    case "unproven":
      return t("unproven", { at });
    default:
      return t("notGenuine", { reason: verdict });
  }
}

const reliable = new Set<AuditVerdict>(["genuine", "before_revocation"]);

import { getTranslations } from "next-intl/server";
import type { ListedEndpoint } from "@/lib/webhooks/list-endpoints";

/** Whether what is sent to an endpoint arrives, in a few words. */
export async function EndpointState({ endpoint }: { endpoint: ListedEndpoint }) {
  const t = await getTranslations("admin.webhooks.state");
  const { disabledReason, failingSince } = endpoint;
  const wrong =
    disabledReason === null ? (failingSince === null ? null : "failing") : (`disabled_${disabledReason}` as const);
  return wrong === null ? (
    <span className="tag justify-self-start">{t("active")}</span>
  ) : (
    <span className="tag border-danger text-danger justify-self-start">{t(wrong)}</span>
  );
}

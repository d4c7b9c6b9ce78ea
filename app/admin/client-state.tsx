import { getTranslations } from "next-intl/server";
import type { ListedClient } from "@/lib/clients/list";

/** Whether a client may ask, in a few words. */
export async function ClientState({ client }: { client: ListedClient }) {
  const t = await getTranslations("admin.state");
  const { isDisabled, isFrozen, isPolicyReadable, frozenByPeople } = client;
  const stops = [
    ...(isFrozen ? [t("frozen")] : []),
    ...(isDisabled ? [t("disabled")] : []),
    ...(isPolicyReadable ? [] : [t("unreadable")]),
  ];
  return (
    <span className="inline-flex flex-wrap items-start gap-1.5">
      {stops.map((stop) => (
        <span className="tag border-danger text-danger" key={stop}>
          {stop}
        </span>
      ))}
      {stops.length === 0 ? <span className="tag">{t("active")}</span> : null}
      {frozenByPeople > 0 ? <span className="tag">{t("byPeople", { count: frozenByPeople })}</span> : null}
    </span>
  );
}

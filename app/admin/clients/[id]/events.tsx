import { getTranslations } from "next-intl/server";
import type { SecurityEvent } from "@/lib/admin/security-events";
import { Instant } from "../../../instant";
import { Outside } from "../../../outside";
import { UserLink } from "../../named-user";

/** What looked wrong about a client of late. */
export async function SecurityEvents({ events }: { events: SecurityEvent[] }) {
  const t = await getTranslations("admin");
  return (
    <section className="mt-6" aria-label={t("client.events")}>
      <h2 className="heading mb-2">{t("client.events")}</h2>
      {events.length === 0 ? (
        <p className="card row text-muted">{t("client.noEvents")}</p>
      ) : (
        <ol className="card">
          {events.map((event) => (
            <li className="row grid gap-x-4 sm:grid-cols-[13rem_1fr]" key={event.seq}>
              <Instant className="text-muted text-sm" at={event.at} />
              <span className="min-w-0">
                {t(`events.${nameOf(event)}`)}
                <span className="text-muted block text-sm break-words">
                  <Outside text={[event.tool, event.reason].filter(Boolean).join(" · ")} />
                </span>
                {event.user ? <UserLink user={event.user} /> : null}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

type Name<T> = T extends `${string}.${infer Rest}` ? Rest : never;

const nameOf = ({ type }: SecurityEvent) => type.slice(type.indexOf(".") + 1) as Name<SecurityEvent["type"]>;

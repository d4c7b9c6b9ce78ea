import { getTranslations } from "next-intl/server";
import type { AuditedApproval } from "@/lib/audit/read";
import { Instant } from "../../instant";
import { Outside } from "../../outside";
import { actorOf } from "../actor";

/** What happened to an approval, in this order. */
export async function History({ events }: { events: AuditedApproval["events"] }) {
  const t = await getTranslations("audit");
  return (
    <>
      <h2 className="heading mt-6 mb-2">{t("history")}</h2>
      <ol className="card">
        {events.map((event) => (
          <li className="row" key={String(event.seq)}>
            <div className="flex flex-wrap justify-between gap-x-4">
              <span className="font-mono text-sm">{event.type}</span>
              <Instant className="text-muted text-sm" at={event.at} precision="seconds" />
            </div>
            <p className="text-muted text-sm break-words">
              {[actorOf(event.actor), event.decision, event.reason].filter(Boolean).join(" · ")}
            </p>
            {event.metadata ? (
              <p className="font-mono text-sm">
                <Outside text={JSON.stringify(event.metadata)} />
              </p>
            ) : null}
          </li>
        ))}
      </ol>
    </>
  );
}

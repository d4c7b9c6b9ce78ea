import { getTranslations } from "next-intl/server";
import type { Alert } from "@/lib/admin/alerts";
import { readOverview } from "@/lib/admin/overview";
import type { ListedClient } from "@/lib/clients/list";
import { getService } from "@/lib/process";
import type { ListedEndpoint } from "@/lib/webhooks/list-endpoints";
import { Instant } from "../instant";
import { miss } from "../miss";
import { Outside } from "../outside";
import { PageFrame } from "../page-frame";
import { requireSession } from "../session";
import { ClientState } from "./client-state";
import { adminPath } from "./posted-form";
import { adminTitle } from "./title";

export const generateMetadata = () => adminTitle("admin");

/** What an admin looks at first; everybody else sees the page of something that is not there. */
export default async function AdminPage() {
  const session = await requireSession("/admin");
  const overview = await readOverview(getService(), session);
  if (!overview) return miss();
  const { alerts, clients, people, endpoints } = overview;
  const t = await getTranslations("admin");
  return (
    <PageFrame path="/admin" account={session.account} wide nav={session}>
      <h1 className="text-2xl font-bold">{t("title")}</h1>
      <Alerts alerts={alerts} endpoints={endpoints.filter(needsALook)} />
      <h2 className="heading mt-6 mb-2">{t("clients")}</h2>
      {clients.length === 0 ? (
        <p className="card row text-muted">{t("noClients")}</p>
      ) : (
        <ul className="card" aria-label={t("clients")}>
          {clients.map((client) => (
            <ClientRow client={client} key={client.clientId} />
          ))}
        </ul>
      )}
      <h2 className="heading mt-6 mb-2">{t("people")}</h2>
      <div className="card">
        <p className="row">{t("peopleCount", people)}</p>
        <a className="row button-plain w-full" href="/admin/people">
          {t("everyPerson")}
        </a>
      </div>
      <h2 className="heading mt-6 mb-2">{t("webhooks.title")}</h2>
      <div className="card">
        <p className="row">{t("webhooksCount", { total: endpoints.length })}</p>
        <a className="row button-plain w-full" href="/admin/webhooks">
          {t("everyWebhook")}
        </a>
      </div>
    </PageFrame>
  );
}

/** Somebody waits for what does not arrive. What an admin has stopped is meant to be so. */
function needsALook({ failingSince, disabledReason }: ListedEndpoint): boolean {
  return disabledReason === null ? failingSince !== null : disabledReason !== "admin";
}

async function Alerts({ alerts, endpoints }: { alerts: Alert[]; endpoints: ListedEndpoint[] }) {
  if (alerts.length === 0 && endpoints.length === 0) return null;
  const t = await getTranslations("admin");
  return (
    <section className="mt-4" aria-label={t("alerts")}>
      <h2 className="heading mb-2">{t("alerts")}</h2>
      {alerts.map((alert) => (
        <div className="notice mb-2" role="alert" key={alert.seq}>
          <p>
            <span aria-hidden="true">▲ </span>
            {t.rich("alert", { people: alert.people, client: () => <Outside text={alert.clientName} /> })}
          </p>
          <p className="flex flex-wrap items-center justify-between gap-x-4 font-normal">
            <Instant at={alert.at} />
            <a className="button-plain text-danger font-semibold" href={`/admin/clients/${alert.clientId}`}>
              {t("look")}
            </a>
          </p>
        </div>
      ))}
      {endpoints.map(({ endpointId, url, disabledAt, failingSince }) => (
        <div className="notice mb-2" role="alert" key={endpointId}>
          <p className="break-words">
            <span aria-hidden="true">▲ </span>
            {t.rich(disabledAt ? "webhookStopped" : "webhookAlert", { url: () => <Outside text={url} /> })}
          </p>
          <p className="flex flex-wrap items-center justify-between gap-x-4 font-normal">
            <Instant at={disabledAt ?? failingSince ?? new Date()} />
            <a className="button-plain text-danger font-semibold" href={adminPath("webhook", endpointId)}>
              {t("look")}
            </a>
          </p>
        </div>
      ))}
    </section>
  );
}

async function ClientRow({ client }: { client: ListedClient }) {
  const t = await getTranslations("admin.client");
  return (
    <li>
      <a
        className="row hover:bg-note grid gap-x-4 gap-y-0.5 sm:grid-cols-[1fr_auto]"
        href={`/admin/clients/${client.clientId}`}
      >
        <strong className="min-w-0">
          <Outside text={client.name} />
        </strong>
        <ClientState client={client} />
        <span className="text-muted min-w-0 text-sm break-words sm:col-span-2">
          <span className="font-mono break-all">{client.clientId}</span>
          {" · "}
          {!client.isPolicyReadable ? "" : client.tools.length === 0 ? t("everyTool") : client.tools.join(", ")}
        </span>
      </a>
    </li>
  );
}

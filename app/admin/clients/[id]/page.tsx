import { getTranslations } from "next-intl/server";
import type { Alert } from "@/lib/admin/alerts";
import { readClientForAdmin } from "@/lib/admin/read-client";
import type { ListedClient } from "@/lib/clients/list";
import { getService } from "@/lib/process";
import { isRecent } from "@/lib/sessions/session";
import { Facts } from "../../../facts";
import { Instant, instantFormat } from "../../../instant";
import { miss } from "../../../miss";
import { Outside } from "../../../outside";
import { requireSession } from "../../../session";
import { ActForm, ActSection, type Acts } from "../../act-form";
import { ClientState } from "../../client-state";
import { AdminFrame, SignInFirst } from "../../frame";
import { adminPath } from "../../posted-form";
import { adminTitle } from "../../title";
import { SecurityEvents } from "./events";
import { PersonFreezes } from "./freezes";

type Props = { params: Promise<{ id: string }>; searchParams: Promise<{ cursor?: string | string[] }> };

export const generateMetadata = () => adminTitle("adminClient");

/** One client: what it may ask, who is protected from it, what looked wrong, and the brake. */
export default async function AdminClientPage({ params, searchParams }: Props) {
  const { id } = await params;
  const { cursor } = await searchParams;
  const path = adminPath("client", id);
  const session = await requireSession(path);
  const service = getService();
  const found = await readClientForAdmin(service, session, id, typeof cursor === "string" ? cursor : undefined);
  if (!found) return miss();
  const { now, client, freezes, nextCursor, alert, events } = found;
  const acts: Acts = { service, session, about: "client", id, canAct: isRecent(session, now) };
  const t = await getTranslations("admin.client");
  return (
    <AdminFrame path={path} session={session}>
      <h1 className="text-2xl font-bold">
        <Outside text={client.name} />
      </h1>
      <p className="mt-1">
        <ClientState client={client} />
      </p>
      <SignInFirst path={path} session={session} now={now} />
      {alert ? <AlertBox acts={acts} alert={alert} /> : null}
      {client.isFrozen ? (
        <ActSection
          acts={acts}
          verb="unfreeze"
          title={t("freezeTitle")}
          what={t("frozenWhat")}
          button={t("unfreeze")}
        />
      ) : (
        <ActSection
          acts={acts}
          verb="freeze"
          title={t("freezeTitle")}
          what={t("freezeWhat")}
          button={t("freeze")}
          isDanger
        />
      )}
      <ClientFacts client={client} />
      <PersonFreezes acts={acts} freezes={freezes} nextCursor={nextCursor} />
      <SecurityEvents events={events} />
    </AdminFrame>
  );
}

async function ClientFacts({ client }: { client: ListedClient }) {
  const t = await getTranslations("admin.client");
  const instant = await instantFormat();
  return (
    <Facts
      facts={[
        [
          t("id"),
          <span className="font-mono break-all" key="id">
            {client.clientId}
          </span>,
        ],
        [t("policy"), String(client.policyVersion)],
        [
          t("issuers"),
          client.issuers.map((issuer) => (
            <p className="break-all" key={issuer}>
              <Outside text={issuer} />
            </p>
          )),
        ],
        [
          t("tools"),
          !client.isPolicyReadable ? "" : client.tools.length === 0 ? t("everyTool") : client.tools.join(", "),
        ],
        [t("since"), instant(client.createdAt)],
      ]}
    />
  );
}

async function AlertBox({ acts, alert }: { acts: Acts; alert: Alert }) {
  const t = await getTranslations("admin");
  return (
    <section className="notice mt-4" aria-label={t("alerts")}>
      <p>
        <span aria-hidden="true">▲ </span>
        {t.rich("alert", { people: alert.people, client: () => <Outside text={alert.clientName} /> })}
      </p>
      <p className="mt-1 font-normal">
        {t("alertWhat")} (<Instant at={alert.at} />)
      </p>
      <ActForm acts={acts} verb="acknowledge" fields={{ alert: alert.seq }}>
        <button className="button-plain text-danger font-semibold" type="submit">
          {t("acknowledge")}
        </button>
      </ActForm>
    </section>
  );
}

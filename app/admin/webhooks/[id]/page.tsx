import { getTranslations } from "next-intl/server";
import { readEndpointForAdmin } from "@/lib/admin/read-webhooks";
import { getService } from "@/lib/process";
import { isRecent } from "@/lib/sessions/session";
import type { ListedEndpoint } from "@/lib/webhooks/list-endpoints";
import { Facts } from "../../../facts";
import { instantFormat } from "../../../instant";
import { miss } from "../../../miss";
import { Outside } from "../../../outside";
import { requireSession } from "../../../session";
import { ActSection, type Acts } from "../../act-form";
import { AdminFrame, SignInFirst } from "../../frame";
import { adminPath } from "../../posted-form";
import { adminTitle } from "../../title";
import { EndpointState } from "../endpoint-state";
import { Deliveries } from "./deliveries";

type Search = Record<"status" | "before", string | string[] | undefined>;
type Props = { params: Promise<{ id: string }>; searchParams: Promise<Search> };

export const generateMetadata = () => adminTitle("adminWebhook");

/** One endpoint: what was sent to it and what it answered, sending again, and the switch. */
export default async function AdminWebhookPage({ params, searchParams }: Props) {
  const { id } = await params;
  const search = await searchParams;
  const path = adminPath("webhook", id);
  const session = await requireSession(path);
  const service = getService();
  const filter = { status: textOf(search.status), before: textOf(search.before) };
  const found = await readEndpointForAdmin(service, session, id, filter);
  if (!found) return miss();
  const { now, endpoint, deliveries, nextBefore } = found;
  const acts: Acts = { service, session, about: "webhook", id, canAct: isRecent(session, now) };
  const t = await getTranslations("admin.webhooks");
  return (
    <AdminFrame path={path} session={session} up={{ href: "/admin/webhooks", name: t("title") }}>
      <h1 className="text-2xl font-bold break-all">
        <Outside text={endpoint.url} />
      </h1>
      <p className="mt-1">
        <EndpointState endpoint={endpoint} />
      </p>
      <SignInFirst path={path} session={session} now={now} />
      <EndpointFacts endpoint={endpoint} />
      <Deliveries
        acts={acts}
        endpoint={endpoint}
        deliveries={deliveries}
        nextBefore={nextBefore}
        status={filter.status}
      />
      <EndpointActs acts={acts} endpoint={endpoint} />
    </AdminFrame>
  );
}

const textOf = (value: string | string[] | undefined) => (typeof value === "string" ? value : undefined);

async function EndpointFacts({ endpoint }: { endpoint: ListedEndpoint }) {
  const t = await getTranslations("admin.webhooks");
  const instant = await instantFormat();
  const { endpointId, clientId, clientName, events, createdAt, disabledAt, failingSince, previousUntil } = endpoint;
  return (
    <Facts
      facts={[
        [
          t("id"),
          <span className="font-mono break-all" key="id">
            {endpointId}
          </span>,
        ],
        [
          t("client"),
          <a className="underline underline-offset-2" href={adminPath("client", clientId)} key="client">
            <Outside text={clientName} />
          </a>,
        ],
        [t("events"), events.length === 0 ? t("everyEvent") : events.join(", ")],
        [t("since"), instant(createdAt)],
        ...(disabledAt ? [[t("disabledSince"), instant(disabledAt)] satisfies [string, string]] : []),
        ...(failingSince ? [[t("failingSince"), instant(failingSince)] satisfies [string, string]] : []),
        ...(previousUntil ? [[t("previousUntil"), instant(previousUntil)] satisfies [string, string]] : []),
      ]}
    />
  );
}

async function EndpointActs({ acts, endpoint }: { acts: Acts; endpoint: ListedEndpoint }) {
  const t = await getTranslations("admin.webhooks");
  if (endpoint.disabledAt)
    return (
      <ActSection acts={acts} verb="enable" title={t("enableTitle")} what={t("enableWhat")} button={t("enable")} />
    );
  return (
    <>
      <ActSection acts={acts} verb="test" title={t("testTitle")} what={t("testWhat")} button={t("test")} />
      <ActSection
        acts={acts}
        verb="replay-missed"
        title={t("missedTitle")}
        what={t("missedWhat")}
        button={t("replayMissed")}
      />
      <ActSection
        acts={acts}
        verb="disable"
        title={t("disableTitle")}
        what={t("disableWhat")}
        button={t("disable")}
        isDanger
      />
    </>
  );
}

import { getTranslations } from "next-intl/server";
import { readEndpointsForAdmin } from "@/lib/admin/read-webhooks";
import { getService } from "@/lib/process";
import type { ListedEndpoint } from "@/lib/webhooks/list-endpoints";
import { miss } from "../../miss";
import { Outside } from "../../outside";
import { requireSession } from "../../session";
import { AdminFrame } from "../frame";
import { adminPath } from "../posted-form";
import { adminTitle } from "../title";
import { EndpointState } from "./endpoint-state";

const path = "/admin/webhooks";

export const generateMetadata = () => adminTitle("adminWebhooks");

/** Where the events of clients go, and whether they arrive. */
export default async function AdminWebhooksPage() {
  const session = await requireSession(path);
  const endpoints = await readEndpointsForAdmin(getService(), session);
  if (!endpoints) return miss();
  const t = await getTranslations("admin.webhooks");
  return (
    <AdminFrame path={path} session={session}>
      <h1 className="text-2xl font-bold">{t("title")}</h1>
      <p className="text-muted mt-1">{t("what")}</p>
      {endpoints.length === 0 ? (
        <p className="card row text-muted mt-4">{t("none")}</p>
      ) : (
        <ul className="card mt-4" aria-label={t("title")}>
          {endpoints.map((endpoint) => (
            <EndpointRow endpoint={endpoint} key={endpoint.endpointId} />
          ))}
        </ul>
      )}
      <p className="text-muted mt-4 text-sm">
        {t.rich("add", { command: () => <code className="font-mono">npx countersign webhooks add</code> })}
      </p>
    </AdminFrame>
  );
}

async function EndpointRow({ endpoint }: { endpoint: ListedEndpoint }) {
  const t = await getTranslations("admin.webhooks");
  const { endpointId, clientName, url, pending, dead } = endpoint;
  return (
    <li>
      <a
        className="row hover:bg-note grid gap-x-4 gap-y-0.5 sm:grid-cols-[1fr_auto]"
        href={adminPath("webhook", endpointId)}
      >
        <strong className="min-w-0 break-all">
          <Outside text={url} />
        </strong>
        <EndpointState endpoint={endpoint} />
        <span className="text-muted min-w-0 text-sm break-words sm:col-span-2">
          <Outside text={clientName} />
          {" · "}
          {t("counts", { pending, dead })}
        </span>
      </a>
    </li>
  );
}

import { getTranslations } from "next-intl/server";
import { deliveryStatuses } from "@/lib/admin/read-webhooks";
import type { ListedDelivery } from "@/lib/webhooks/list-deliveries";
import type { ListedEndpoint } from "@/lib/webhooks/list-endpoints";
import { Instant, instantFormat } from "../../../instant";
import { ActForm, type Acts } from "../../act-form";
import { adminPath } from "../../posted-form";

type Props = {
  acts: Acts;
  endpoint: ListedEndpoint;
  deliveries: ListedDelivery[];
  nextBefore: string | undefined;
  status: string | undefined;
};

/** What was sent to an endpoint, the newest first. */
export async function Deliveries({ acts, endpoint, deliveries, nextBefore, status }: Props) {
  const t = await getTranslations("admin.webhooks");
  const page = adminPath("webhook", acts.id);
  const older = new URLSearchParams({ ...(status ? { status } : {}), ...(nextBefore ? { before: nextBefore } : {}) });
  const canReplay: Acts = { ...acts, canAct: acts.canAct && endpoint.disabledAt === null };
  return (
    <section className="mt-6" id="deliveries" aria-label={t("deliveries")}>
      <h2 className="heading mb-2">{t("deliveries")}</h2>
      <nav className="mb-2 flex flex-wrap gap-x-4" aria-label={t("show")}>
        {([undefined, ...deliveryStatuses] as const).map((each) => (
          <a
            className={`button-plain ${each === status ? "font-semibold underline underline-offset-4" : ""}`}
            aria-current={each === status ? "page" : undefined}
            href={`${page}${each ? `?status=${each}` : ""}#deliveries`}
            key={each ?? "all"}
          >
            {t(`statuses.${each ?? "all"}`)}
          </a>
        ))}
      </nav>
      {deliveries.length === 0 ? (
        <p className="card row text-muted">{t("noDeliveries")}</p>
      ) : (
        <ol className="card">
          {deliveries.map((delivery) => (
            <DeliveryRow acts={canReplay} delivery={delivery} key={delivery.deliveryId} />
          ))}
        </ol>
      )}
      {nextBefore ? (
        <a className="button-plain" href={`${page}?${older}#deliveries`}>
          {t("older")}
        </a>
      ) : null}
    </section>
  );
}

async function DeliveryRow({ acts, delivery }: { acts: Acts; delivery: ListedDelivery }) {
  const t = await getTranslations("admin.webhooks");
  const instant = await instantFormat("seconds");
  const { deliveryId, eventId, type, approvalId, at, status, attempts, nextAt, statusCode, error, latencyMs } =
    delivery;
  const answer = statusCode === null ? (error === null ? null : t(`errors.${errorKey(error)}`)) : `HTTP ${statusCode}`;
  const facts = [
    t("attempts", { attempts }),
    answer === null ? null : t("answered", { answer, ms: latencyMs ?? 0 }),
    nextAt === null ? null : t("nextAt", { at: instant(nextAt) }),
  ];
  return (
    <li className="row flex flex-wrap items-center justify-between gap-x-4">
      <div className="min-w-0 flex-1 basis-64" id={`delivery-${deliveryId}`}>
        <p className="flex flex-wrap items-center gap-x-2">
          <span className="font-mono text-sm break-all">{type}</span>
          <span className={`tag ${status === "dead" ? "border-danger text-danger" : ""}`}>
            {t(`statuses.${status}`)}
          </span>
        </p>
        <p className="text-muted text-sm break-words">
          <Instant at={at} precision="seconds" />
          {" · "}
          {facts.filter((fact) => fact !== null).join(" · ")}
        </p>
        <p className="text-muted font-mono text-xs break-all">{[eventId, approvalId].filter(Boolean).join(" · ")}</p>
      </div>
      <ActForm acts={acts} verb="replay" fields={{ delivery: deliveryId }}>
        <button className="button-plain" type="submit" aria-describedby={`delivery-${deliveryId}`}>
          {t("replay")}
        </button>
      </ActForm>
    </li>
  );
}

const errors = [
  "url_refused",
  "address_refused",
  "dns_failed",
  "connect_failed",
  "tls_failed",
  "timeout",
  "reset",
  "response_too_large",
  "malformed_response",
  "endpoint_not_authentic",
  "event_not_authentic",
] as const;

/** A row may hold what no version of ours has written. */
function errorKey(error: string): (typeof errors)[number] | "unknown" {
  return errors.find((each) => each === error) ?? "unknown";
}

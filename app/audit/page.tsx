import { getTranslations } from "next-intl/server";
import { type AuditFilter, listAudit } from "@/lib/audit/list";
import { getService } from "@/lib/process";
import { Instant } from "../instant";
import { miss } from "../miss";
import { PageFrame } from "../page-frame";
import { pageTitle } from "../page-title";
import { requireSession } from "../session";
import { actorOf } from "./actor";

type Search = Record<string, string | string[] | undefined>;

export const generateMetadata = () => pageTitle("audit");

/** The history, for auditors; everybody else sees the page of something that is not there. */
export default async function AuditPage({ searchParams }: { searchParams: Promise<Search> }) {
  const session = await requireSession("/audit");
  const search = await searchParams;
  const filter = filterOf(search);
  const page = await listAudit(getService(), session, filter);
  if (!page) return miss();
  const t = await getTranslations("audit");
  const older = new URLSearchParams(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === "string" && value !== "" && name !== "cursor" ? [[name, value]] : [],
    ),
  );
  if (page.nextCursor) older.set("cursor", page.nextCursor);
  return (
    <PageFrame path="/audit" account={session.account} wide nav={session}>
      <h1 className="text-2xl font-bold">{t("title")}</h1>
      <Filters types={page.types} search={search} />
      {page.events.length === 0 ? <p className="card row text-muted mt-4">{t("none")}</p> : null}
      <ol className="card mt-4" aria-label={t("title")}>
        {page.events.map((event) => (
          <li className="row grid gap-x-4 gap-y-0.5 sm:grid-cols-[13rem_12rem_1fr]" key={String(event.seq)}>
            <Instant className="text-muted text-sm" at={event.at} precision="seconds" />
            <span className="font-mono text-sm break-all">{event.type}</span>
            <span className="min-w-0 text-sm break-words">
              {event.approvalId ? (
                <a className="underline underline-offset-2" href={`/audit/${event.approvalId}`}>
                  {event.tool ?? event.approvalId}
                </a>
              ) : null}{" "}
              <span className="text-muted">
                {[actorOf(event.actor), event.decision, event.reason].filter(Boolean).join(" · ")}
              </span>
            </span>
          </li>
        ))}
      </ol>
      {page.nextCursor ? (
        <a className="button-plain" href={`/audit?${older}`}>
          {t("older")}
        </a>
      ) : null}
    </PageFrame>
  );
}

async function Filters({ types, search }: { types: string[]; search: Search }) {
  const t = await getTranslations("audit");
  const value = (name: string) => (typeof search[name] === "string" ? search[name] : "");
  return (
    <form className="mt-4 grid gap-3 sm:grid-cols-3 lg:grid-cols-4 items-end" method="get" action="/audit">
      <label className="block">
        <span className="label">{t("type")}</span>
        <select className="input mt-1" name="type" defaultValue={value("type")}>
          <option value="">{t("all")}</option>
          {types.map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </label>
      {(["approval", "client", "person"] as const).map((name) => (
        <label className="block" key={name}>
          <span className="label">{t(name)}</span>
          <input className="input mt-1" name={name} defaultValue={value(name)} />
        </label>
      ))}
      <label className="block">
        <span className="label">{t("from")}</span>
        <input className="input mt-1" type="date" name="from" defaultValue={value("from")} />
      </label>
      <label className="block">
        <span className="label">{t("to")}</span>
        <input className="input mt-1" type="date" name="to" defaultValue={value("to")} />
      </label>
      <button className="button" type="submit">
        {t("filter")}
      </button>
    </form>
  );
}

function filterOf(search: Search): AuditFilter {
  const text = (name: string) =>
    typeof search[name] === "string" && search[name] !== "" && !search[name].includes("\u0000")
      ? search[name]
      : undefined;
  const day = (name: string, plusDays: number) => {
    const given = text(name);
    if (!given || !/^\d{4}-\d\d-\d\d$/.test(given) || Number.isNaN(Date.parse(given))) return undefined;
    return new Date(Date.parse(given) + plusDays * 86_400_000);
  };
  const entries = {
    type: text("type"),
    approvalId: text("approval"),
    clientId: text("client"),
    person: text("person"),
    cursor: text("cursor"),
    from: day("from", 0),
    to: day("to", 1),
  };
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}

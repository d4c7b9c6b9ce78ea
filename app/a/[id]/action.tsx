import { getTranslations } from "next-intl/server";
import type { View } from "@/lib/views/view";
import { ArgumentRow, Shown } from "./shown";

/** The whole action in the order of the gate: what decides first, then everything, then the model's words (section 10). */
export async function Action({ view, isPending }: { view: View; isPending: boolean }) {
  const t = await getTranslations("approval");
  return (
    <>
      <Asker view={view} isPending={isPending} />
      <h1 className="mt-2 text-2xl leading-tight font-bold sm:text-3xl">
        <Shown text={view.title} />
      </h1>
      {view.irreversible ? (
        <p className="bg-danger-ground text-danger mt-4 rounded-xl px-4 py-3 text-lg font-bold">
          <span aria-hidden="true">▲ </span>
          {t("irreversible")}
        </p>
      ) : null}
      {view.purpose ? (
        <div className="mt-4">
          <h2 className="label">{t("why")}</h2>
          <p className="text-lg">
            <Shown text={view.purpose} />
          </p>
        </div>
      ) : null}
      <Deciding view={view} />
      <Everything view={view} />
      {view.modelNote ? (
        <section className="bg-note border-line mt-5 rounded-[0.875rem] border border-dashed">
          <h2 className="heading row">{t("modelNote")}</h2>
          <p className="row border-line border-t border-dashed">
            <Shown text={view.modelNote} />
          </p>
        </section>
      ) : null}
    </>
  );
}

async function Asker({ view, isPending }: { view: View; isPending: boolean }) {
  const t = await getTranslations("approval");
  return (
    <div className="mt-2">
      <p>
        {t.rich(isPending ? "asks" : "asked", {
          client: () => (
            <strong>
              <Shown text={view.clientName} />
            </strong>
          ),
        })}
      </p>
      {view.mcpClient ? (
        <p className="text-muted text-sm">
          {t.rich("reportedAs", {
            name: () => (
              <>
                <Shown text={view.mcpClient?.name ?? { spans: [], warnings: [] }} />
                {view.mcpClient?.version ? (
                  <>
                    {" "}
                    <Shown text={view.mcpClient.version} />
                  </>
                ) : null}
              </>
            ),
          })}
        </p>
      ) : null}
      {view.mcpClientId ? (
        <p className="text-muted text-sm">
          {t.rich("through", {
            id: () => <Shown text={view.mcpClientId ?? { spans: [], warnings: [] }} className="font-mono" />,
          })}
        </p>
      ) : null}
    </div>
  );
}

async function Deciding({ view }: { view: View }) {
  const t = await getTranslations("approval");
  if (view.details.length === 0 && view.checks.length === 0 && !view.destination) return null;
  const risky = view.details.filter((detail) => detail.risk);
  const calm = view.details.filter((detail) => !detail.risk);
  const rows = [
    ...risky.map((d) => ({ label: <Shown text={d.label} />, value: d.value, risk: true, extra: null })),
    ...(view.destination ? [{ label: t("where"), value: view.destination, risk: view.irreversible, extra: null }] : []),
    ...calm.map((d) => ({ label: <Shown text={d.label} />, value: d.value, risk: false, extra: null })),
    ...view.checks.map((c) => ({
      label: <Shown text={c.label} />,
      value: c.value,
      risk: false,
      extra: <span className="tag ml-1">{t("checked")}</span>,
    })),
  ];
  return (
    <section className="card mt-5">
      <h2 className="heading row">{t("whatDecides")}</h2>
      <dl className="divide-line divide-y">
        {rows.map((row, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the rows of a signed record never move
          <div className={`row ${row.risk ? "border-l-danger border-l-4 pl-3.5" : ""}`} key={i}>
            <dt className="label">{row.label}</dt>
            <dd className={row.risk ? "text-lg font-bold" : "text-lg"}>
              <Shown text={row.value} />
              {row.extra}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

async function Everything({ view }: { view: View }) {
  const t = await getTranslations("approval");
  return (
    <section className="card mt-5">
      <h2 className="heading row">
        {t("everything")} <Shown text={view.tool} className="text-ink font-mono font-normal" />
      </h2>
      {view.arguments.length === 0 ? (
        <p className="row text-muted">{t("noArguments")}</p>
      ) : (
        <dl className="divide-line divide-y">
          {view.arguments.map((argument, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the arguments of a signed record never move
            <ArgumentRow argument={argument} key={i} />
          ))}
        </dl>
      )}
    </section>
  );
}

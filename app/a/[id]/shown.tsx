import { getTranslations } from "next-intl/server";
import type { ShownArgument, ShownText } from "@/lib/views/view";

/** A text from outside with what to beware of beside it (I11). */
export async function Shown({ text, className = "" }: { text: ShownText; className?: string }) {
  return (
    <>
      <Spans text={text} className={className} />
      <Warnings text={text} />
    </>
  );
}

/** Isolated, whole, as text; what cannot be seen is drawn (I11). */
function Spans({ text, className = "" }: { text: ShownText; className?: string }) {
  return (
    <bdi className={`outside ${className}`}>
      {text.spans.map((span, i) =>
        span.kind === "text" ? (
          span.text
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: spans have no identity and never move
          <span className="hidden-character" key={i}>
            {span.codePoint} {span.name}
          </span>
        ),
      )}
    </bdi>
  );
}

async function Warnings({ text }: { text: ShownText }) {
  const t = await getTranslations("warnings");
  return text.warnings.map((warning) => (
    <span className="text-danger mt-0.5 block font-sans text-sm font-semibold" key={warning}>
      <span aria-hidden="true">⚠ </span>
      {t(warning)}
    </span>
  ));
}

/** One argument in full with its type. */
export async function ArgumentRow({ argument }: { argument: ShownArgument }) {
  const t = await getTranslations("types");
  return (
    <div className="row">
      <dt className="label font-mono">
        {argument.path.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a path never move
          <Step step={step} isFirst={i === 0} key={i} />
        ))}
      </dt>
      <dd className="mt-0.5 font-mono">
        {argument.value ? (
          <>
            {argument.type === "text" ? <span className="text-muted">“</span> : null}
            <Spans text={argument.value} />
            {argument.type === "text" ? <span className="text-muted">”</span> : null}{" "}
          </>
        ) : null}
        <span className="tag">{t(argument.type)}</span>
        {argument.value ? <Warnings text={argument.value} /> : null}
      </dd>
    </div>
  );
}

/** Each name stands apart from the marks between names, so that a name cannot pass for a path. */
async function Step({ step, isFirst }: { step: ShownArgument["path"][number]; isFirst: boolean }) {
  const t = await getTranslations("types");
  if ("position" in step) return <span className="text-muted">[{step.position + 1}]</span>;
  return (
    <>
      {isFirst ? null : <span className="text-muted px-1">›</span>}
      {step.name.spans.length === 0 ? (
        <span className="tag">{t("emptyName")}</span>
      ) : (
        <Shown text={step.name} className={isFirst ? "" : "bg-note rounded px-0.5"} />
      )}
    </>
  );
}

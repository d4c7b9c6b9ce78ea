import { getTranslations } from "next-intl/server";
import type { ShownArgument, ShownText } from "@/lib/views/view";

/** A text from outside: isolated, whole, as text; what cannot be seen is drawn, what could mislead is said beside it (I11). */
export async function Shown({ text, className = "" }: { text: ShownText; className?: string }) {
  const t = await getTranslations("warnings");
  return (
    <>
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
      {text.warnings.map((warning) => (
        <span className="text-danger mt-0.5 block text-sm font-semibold" key={warning}>
          ⚠ {t(warning)}
        </span>
      ))}
    </>
  );
}

/** One argument in full with its type. */
export async function ArgumentRow({ argument }: { argument: ShownArgument }) {
  const t = await getTranslations("types");
  return (
    <div className="row">
      <dt className="label font-mono">
        {argument.path.map((step, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a path never move
          <span key={i}>
            {i > 0 && "name" in step ? <span className="text-field px-1">›</span> : null}
            {"name" in step ? <Shown text={step.name} /> : <span>[{step.position + 1}]</span>}
          </span>
        ))}
      </dt>
      <dd className="mt-0.5 font-mono">
        {argument.value ? (
          <>
            {argument.type === "text" ? <span className="text-muted">“</span> : null}
            <Shown text={argument.value} />
            {argument.type === "text" ? <span className="text-muted">”</span> : null}{" "}
          </>
        ) : null}
        <span className="tag">{t(argument.type)}</span>
      </dd>
    </div>
  );
}

import { inspectText } from "@/lib/text/inspect";
import { textWarnings } from "@/lib/text/warnings";
import { Shown } from "./a/[id]/shown";

/** A text from outside that is not part of a view: isolated, whole, what cannot be seen drawn, warnings beside it (I11). */
export function Outside({ text, className = "" }: { text: string; className?: string }) {
  return (
    <Shown
      text={{ spans: inspectText(text, { multiline: true }), warnings: textWarnings(text) }}
      className={className}
    />
  );
}

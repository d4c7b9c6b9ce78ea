import { getFormatter } from "next-intl/server";

type Precision = "minutes" | "seconds";

/** Writes instants as every page does: in the person's language, in UTC, and saying so. */
export async function instantFormat(precision: Precision = "minutes"): Promise<(at: Date) => string> {
  const format = await getFormatter();
  const timeStyle = precision === "seconds" ? "medium" : "short";
  return (at) => `${format.dateTime(at, { dateStyle: "medium", timeStyle, timeZone: "UTC" })} UTC`;
}

type Props = { at: Date; precision?: Precision; className?: string };

/** An instant that stands by itself, for people and for what reads the page. */
export async function Instant({ at, precision = "minutes", className }: Props) {
  const write = await instantFormat(precision);
  return (
    <time className={className} dateTime={at.toISOString()}>
      {write(at)}
    </time>
  );
}

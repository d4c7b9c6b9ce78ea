import { getFormatter, getTranslations } from "next-intl/server";

/** How long the question stays open, by the database's clock, as it was when the page was made; and until when. */
export async function TimeLeft({ now, expiresAt }: { now: Date; expiresAt: Date }) {
  const t = await getTranslations("approval");
  const format = await getFormatter();
  const seconds = Math.max(0, Math.floor((expiresAt.getTime() - now.getTime()) / 1000));
  const parts = {
    hours: Math.floor(seconds / 3600),
    minutes: Math.floor((seconds % 3600) / 60),
    seconds: seconds % 60,
  };
  return (
    <p className="text-muted">
      {parts.hours > 0 ? t("leftHours", parts) : t("leftMinutes", parts)}{" "}
      <time dateTime={expiresAt.toISOString()}>
        {t("until", {
          at: format.dateTime(expiresAt, {
            hour: "2-digit",
            minute: "2-digit",
            second: "2-digit",
            hourCycle: "h23",
            timeZoneName: "short",
          }),
        })}
      </time>
    </p>
  );
}

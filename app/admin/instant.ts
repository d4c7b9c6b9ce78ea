import { getFormatter } from "next-intl/server";

/** Writes instants as the admin pages do, in UTC. */
export async function instantFormat(): Promise<(at: Date) => string> {
  const format = await getFormatter();
  return (at) => `${format.dateTime(at, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" })} UTC`;
}

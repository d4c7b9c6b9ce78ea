import { cookies, headers } from "next/headers";
import { getRequestConfig } from "next-intl/server";
import { chooseLocale, localeCookie } from "@/lib/requests/locale";
import en from "./en.json";
import ja from "./ja.json";

/** The language of a page: the person's choice (cookie), else the browser's. */
export default getRequestConfig(async () => {
  const chosen = (await cookies()).get(localeCookie)?.value;
  const locale = chooseLocale(chosen, (await headers()).get("accept-language"));
  return { locale, messages: locale === "ja" ? ja : en, timeZone: "UTC" };
});

import type { Metadata } from "next";
import { getTranslations } from "next-intl/server";
import { getService } from "@/lib/process";

type Titled =
  | "signin"
  | "signout"
  | "stepUp"
  | "approval"
  | "notRequested"
  | "inbox"
  | "audit"
  | "account"
  | "admin"
  | "adminClient"
  | "adminPeople"
  | "adminPerson"
  | "adminWebhook"
  | "adminWebhooks";

/** Names a page by its route alone: the page of a miss and that of an approval carry the same title (I2), and history tells nothing. */
export async function pageTitle(page: Titled): Promise<Metadata> {
  const t = await getTranslations("titles");
  return { title: `${t(page)} · ${getService().config.name}` };
}

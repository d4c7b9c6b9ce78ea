import type { Metadata } from "next";
import { headers } from "next/headers";
import { isAdmin } from "@/lib/admin/act";
import { getService } from "@/lib/process";
import { readSession } from "@/lib/sessions/read";
import { pageTitle } from "../page-title";

/** The title of an admin's page; for everybody else that of a page that is not there. */
export async function adminTitle(page: AdminPage): Promise<Metadata> {
  const session = await readSession(getService(), await headers());
  return session && isAdmin(session) ? pageTitle(page) : {};
}

type AdminPage = "admin" | "adminClient" | "adminPeople" | "adminPerson" | "adminWebhook" | "adminWebhooks";

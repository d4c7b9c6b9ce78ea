import type { Metadata } from "next";
import { headers } from "next/headers";
import { isAdmin } from "@/lib/admin/act";
import { getService } from "@/lib/process";
import { readSession } from "@/lib/sessions/read";
import { pageTitle } from "../page-title";

/** The title of an admin's page; for everybody else that of a page that is not there. */
export async function adminTitle(page: "admin" | "adminClient" | "adminPeople" | "adminPerson"): Promise<Metadata> {
  const session = await readSession(getService(), await headers());
  return session && isAdmin(session) ? pageTitle(page) : {};
}

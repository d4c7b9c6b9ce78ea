import { cookies } from "next/headers";
import { getService } from "@/lib/process";

/** The token that next-auth wants back from a form, from the cookie that it has set; undefined before it has. */
export async function readNextAuthToken(): Promise<string | undefined> {
  const prefix = getService().config.url.startsWith("https:") ? "__Host-" : "";
  return (await cookies()).get(`${prefix}next-auth.csrf-token`)?.value.split("|")[0];
}

import { headers } from "next/headers";
import { getService } from "@/lib/process";
import { readSession } from "@/lib/sessions/read";
import type { PersonSession } from "@/lib/sessions/session";
import { goTo } from "./go-to";

/** The session of the page that is being rendered. Signed out: to the sign-in page, and back to `path` afterwards. */
export async function requireSession(path: string): Promise<PersonSession> {
  const session = await readSession(getService(), await headers());
  if (!session) goTo(`/signin?callbackUrl=${encodeURIComponent(path)}`);
  return session;
}

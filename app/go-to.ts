import { redirect } from "next/navigation";
import { setPageStatus } from "@/lib/requests/page-status";

/** Sends the visitor of a page on, with 303 See Other. */
export function goTo(path: string): never {
  setPageStatus(303);
  redirect(path);
}

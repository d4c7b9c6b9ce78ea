import { samePath } from "./same-path";

/** The path of ours that a form, a page's address or next-auth wants to go on to; next-auth hands it on as a whole URL. Else the inbox. */
export function ownPath(publicUrl: string, callbackUrl: unknown): string {
  if (typeof callbackUrl !== "string") return samePath(undefined);
  return samePath(callbackUrl.startsWith(`${publicUrl}/`) ? callbackUrl.slice(publicUrl.length) : callbackUrl);
}

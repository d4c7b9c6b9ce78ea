import { getService } from "@/lib/process";
import { localeCookie } from "@/lib/requests/locale";
import { readForm } from "@/lib/requests/read-form";
import { isSameOrigin } from "@/lib/requests/same-origin";
import { samePath } from "@/lib/requests/same-path";

/** Keeps the language that a person chose, for a year. */
export async function POST(request: Request): Promise<Response> {
  const { url } = getService().config;
  if (!isSameOrigin(request.headers, url)) return new Response("Forbidden", { status: 403 });
  const form = await readForm(request);
  if (!form) return new Response("Unsupported Media Type", { status: 415 });
  const locale = form.get("locale") === "ja" ? "ja" : "en";
  const secure = url.startsWith("https:") ? "; Secure" : "";
  return new Response(null, {
    status: 303,
    headers: {
      Location: samePath(form.get("to")),
      "Set-Cookie": `${localeCookie}=${locale}; Path=/; Max-Age=31536000; SameSite=Lax; HttpOnly${secure}`,
    },
  });
}

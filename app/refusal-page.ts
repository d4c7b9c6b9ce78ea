import { createHash } from "node:crypto";
import type { ProblemCode } from "@/lib/problem";
import { getService } from "@/lib/process";
import { chooseLocale, localeCookie } from "@/lib/requests/locale";
import { readCookie } from "@/lib/sessions/cookie";
import en from "./i18n/en.json";
import ja from "./i18n/ja.json";

/**
 * The page for a browser whose form was refused: why, in the person's language, and a way back to `page`. Status and headers are those of
 * `problem`. It says nothing about what is there and what is not (I2).
 */
export async function refusalPage(request: Request, problem: Response, page: string): Promise<Response> {
  const { code } = (await problem.json()) as { code: ProblemCode };
  const locale = chooseLocale(readCookie(request.headers, localeCookie), request.headers.get("accept-language"));
  const words = (locale === "ja" ? ja : en).refusal;
  const { title, what } = words[kindOf(code, problem.status)];
  const headers = new Headers(problem.headers);
  const isOurs = problem.status >= 500;
  const reference = isOurs
    ? `<p class="muted">${words.reference} ${escaped(headers.get("x-request-id") ?? "")}</p>`
    : "";
  headers.set("Content-Type", "text/html; charset=utf-8");
  headers.set("Content-Security-Policy", contentSecurityPolicy);
  const html = `<!doctype html>
<html lang="${locale}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${escaped(`${title} · ${getService().config.name}`)}</title><style>${style}</style></head>
<body><main><h1>${escaped(title)}</h1><p class="muted">${escaped(what)}</p><a href="${escaped(page)}">${escaped(words.back)}</a>${reference}</main></body></html>
`;
  return new Response(html, { status: problem.status, headers });
}

function kindOf(code: ProblemCode, status: number) {
  if (code === "stale_form" || code === "not_found" || code === "forbidden_origin") return code;
  if (status < 500) return "unreadable";
  return status === 503 ? "unavailable" : "internal";
}

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

// This page is made by the process itself, which does not know what the style sheet of the other pages is called.
const style = `:root{color-scheme:light dark;--ground:#f4f6f8;--card:#fff;--ink:#11161d;--muted:#56616f}
@media(prefers-color-scheme:dark){:root{--ground:#0d1116;--card:#161b22;--ink:#e9edf2;--muted:#9ba6b4}}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,"Segoe UI",Roboto,"Noto Sans","Hiragino Sans","Yu Gothic UI","Noto Sans CJK JP",sans-serif}
main{max-width:28rem;margin:4rem auto 0;padding:0 1rem;text-align:center}
h1{font-size:1.5rem;line-height:1.35;margin:0;text-wrap:balance}
.muted{color:var(--muted);overflow-wrap:anywhere}
a{display:inline-flex;align-items:center;min-height:3.25rem;margin-top:.5rem;padding:0 1.25rem;border:1.5px solid var(--ink);border-radius:.75rem;background:var(--card);color:var(--ink);font-size:1.0625rem;font-weight:650;text-decoration:none}`;

const contentSecurityPolicy = [
  "default-src 'none'",
  `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`,
  "img-src 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "form-action 'none'",
].join("; ");

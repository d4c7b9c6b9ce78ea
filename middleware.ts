import { type NextRequest, NextResponse } from "next/server";
import { getService } from "@/lib/process";
import { contentSecurityPolicy, formOriginsOf, securityHeaders } from "@/lib/requests/security-headers";

/** Security headers and the CSP nonce, nothing else: who may see what is decided in `lib`, next to the data. */
export function middleware(request: NextRequest): NextResponse {
  const { url, oidcProviders } = getService().config;
  const nonce = crypto.randomUUID().replaceAll("-", "");
  const formOrigins = formOriginsOf(request.nextUrl.pathname, oidcProviders);
  const policy = contentSecurityPolicy(nonce, process.env.NODE_ENV === "development", formOrigins);
  // What a client sent under these names is overwritten: Next takes the nonce from them.
  const headers = new Headers(request.headers);
  headers.set("x-nonce", nonce);
  headers.set("content-security-policy", policy);
  headers.delete("content-security-policy-report-only");
  const response = NextResponse.next({ request: { headers } });
  for (const [name, value] of Object.entries(securityHeaders(url))) response.headers.set(name, value);
  response.headers.set("Content-Security-Policy", policy);
  return response;
}

export const config = { runtime: "nodejs", matcher: "/((?!_next/static/).*)" };

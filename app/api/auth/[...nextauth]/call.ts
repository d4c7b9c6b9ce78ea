import { NextRequest } from "next/server";
import NextAuth from "next-auth";
import type { Service } from "@/lib/process";
import { authOptions, type Exchange } from "./options";

export type Context = { params: Promise<{ nextauth: string[] }> };

/** Lets next-auth answer; what it learns on the way stands in `exchange`. */
export function callNextAuth(
  service: Service,
  request: NextRequest,
  context: Context,
  exchange: Exchange = {},
): Promise<Response> {
  return NextAuth(request as never, context as never, authOptions(service, exchange)) as Promise<Response>;
}

/**
 * The request with these fields of its form alone, and without its query: next-auth passes the query of a sign-in on to the provider, where
 * it would change what is asked.
 */
export function withForm(request: NextRequest, fields: Record<string, string>): NextRequest {
  const url = new URL(request.url);
  url.search = "";
  const headers = new Headers(request.headers);
  headers.delete("content-length");
  return new NextRequest(url, { method: "POST", headers, body: new URLSearchParams(fields).toString() });
}

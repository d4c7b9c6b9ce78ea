import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { getService } from "@/lib/process";
import { isSameOrigin } from "@/lib/requests/same-origin";
import { authOptions } from "./options";

type Context = { params: Promise<{ nextauth: string[] }> };

function handle(request: NextRequest, context: Context): Promise<Response> {
  return NextAuth(request as never, context as never, authOptions(getService())) as Promise<Response>;
}

/** Signing somebody in or out from another site is refused like every other form (I1), before next-auth looks at its own token. */
async function handlePost(request: NextRequest, context: Context): Promise<Response> {
  const service = getService();
  if (!isSameOrigin(request.headers, service.config.url)) return new Response("Forbidden", { status: 403 });
  // Here next-auth would write what any page sends it into our log.
  if ((await context.params).nextauth[0] === "_log") return new Response("Not Found", { status: 404 });
  return handle(request, context);
}

export { handle as GET, handlePost as POST };

import type { NextRequest } from "next/server";
import NextAuth from "next-auth";
import { getService } from "@/lib/process";
import { authOptions } from "./options";

async function handle(request: NextRequest, context: { params: Promise<{ nextauth: string[] }> }): Promise<Response> {
  return NextAuth(request as never, context as never, authOptions(getService())) as Promise<Response>;
}

export { handle as GET, handle as POST };

import type { NextRequest } from "next/server";
import { Problem } from "@/lib/problem";
import type { Service } from "@/lib/process";
import { ownPath } from "@/lib/requests/own-path";
import { readForm } from "@/lib/requests/read-form";
import { signInErrorOf, signInPage } from "@/lib/requests/sign-in-page";
import { seeOther } from "../../../posted-form";
import { type Context, callNextAuth, withForm } from "./call";
import type { Exchange } from "./options";
import { signedIn } from "./signed-in";

/**
 * Signs in with what a form of the sign-in page holds: a password, or the answer of a passkey. A refusal leads back there, with one of our
 * words and the same place to go on to; a script that says `json` is told the place instead. Errors: `unsupported_media_type`.
 */
export async function signInWithForm(service: Service, request: NextRequest, context: Context): Promise<Response> {
  const form = await readForm(request);
  if (!form) throw new Problem("unsupported_media_type");
  const to = ownPath(service.config.url, form.get("callbackUrl"));
  const { json, ...fields } = Object.fromEntries(form);
  const sent = withForm(request, { ...fields, callbackUrl: service.config.url + to });
  const exchange: Exchange = {};
  const answer = await callNextAuth(service, sent, context, exchange);
  const cookies = answer.headers.getSetCookie();
  const claims = exchange.signedIn;
  if (claims) cookies.push(...(await signedIn(service, claims, request.headers)));
  const url = claims ? to : refusedPage(to, answer.headers.get("location") ?? "");
  if (json !== "true") return seeOther(url, cookies);
  const headers = new Headers({ "Cache-Control": "no-store" });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return Response.json({ url }, { status: claims ? 200 : 401, headers });
}

/** next-auth says what was wrong in the address that it would lead to. */
function refusedPage(to: string, location: string): string {
  const said = URL.canParse(location) ? new URL(location).searchParams : new URLSearchParams();
  const [word = "", seconds] = (said.has("csrf") ? "stale_form" : (said.get("error") ?? "")).split(":");
  return signInPage(to, signInErrorOf(word), seconds === undefined ? undefined : Number(seconds));
}

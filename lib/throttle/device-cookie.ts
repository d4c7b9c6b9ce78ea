import { randomBytes } from "node:crypto";
import type { Service } from "../process";
import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";
import { readCookie } from "../sessions/cookie";

const deviceSeconds = 180 * 24 * 3600;

/**
 * A `Set-Cookie` value by which this browser is known to have signed in as this user: to be set after each successful sign-in, whatever
 * proved it. It signs nobody in. It only makes the browser a source of its own, so that strangers who guess at the account do not slow down
 * its owner. It names the user by a keyed digest alone, and counts for 180 days.
 *
 * With next-auth: a credentials provider cannot set cookies, so the wrapper of its route appends this one to an answer that sets a
 * session, for the user whom `authorize` has just let in.
 */
export function deviceCookie(service: Service, userId: string): string {
  const id = randomBytes(16).toString("base64url");
  const issuedAt = Math.floor(Date.now() / 1000);
  const proof = mac(service.secrets.tag, partsOf(userId, id, issuedAt)).toString("base64url");
  const { url } = service.config;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${deviceSeconds}${url.startsWith("https:") ? "; Secure" : ""}`;
  return `${nameOf(url)}=${id}.${issuedAt}.${proof}; ${attributes}`;
}

/** The device cookie of a request, to be handed to `authenticate`; it says nothing yet. */
export function readDeviceCookie(service: Service, headers: Headers): string | undefined {
  return readCookie(headers, nameOf(service.config.url));
}

/** The id of the device, where the cookie is ours, of this very user and no older than 180 days. */
export function deviceOf(secrets: Secrets, userId: string, cookie: string | undefined): string | undefined {
  const [, id = "", issued = "", proof = ""] = /^([\w-]{22})\.(\d{1,12})\.([\w-]{43})$/.exec(cookie ?? "") ?? [];
  const issuedAt = Number(issued);
  const isOurs = isMacOf(secrets, "tag", partsOf(userId, id, issuedAt), Buffer.from(proof, "base64url"));
  return isOurs && issuedAt + deviceSeconds > Date.now() / 1000 ? id : undefined;
}

const partsOf = (userId: string, id: string, issuedAt: number): MacParts => ["device", userId, id, issuedAt];

const nameOf = (publicUrl: string) =>
  publicUrl.startsWith("https:") ? "__Host-countersign.device" : "countersign.device";

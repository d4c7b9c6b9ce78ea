import { z } from "zod";
import type { Service } from "../process";
import { open, seal } from "../secrets/seal";
import { readCookie } from "../sessions/cookie";

const done = [
  "frozen",
  "unfrozen",
  "freeze_lifted",
  "acknowledged",
  "linked",
  "unlinked",
  "sessions_ended",
  "disabled",
  "enabled",
  "webhook_arrived",
  "webhook_disabled",
  "webhook_enabled",
  "webhook_replayed",
] as const;
const refused = [
  "link_self",
  "link_taken",
  "link_own_issuer",
  "link_signs_in",
  "link_incomplete",
  "link_unverified",
  "disable_self",
  "webhook_failed",
  "busy",
  "gone",
  "stale_form",
] as const;

/** What came of an admin's form. */
export type AdminNotice = (typeof done)[number] | (typeof refused)[number];
/** What was typed into the form for a link, so that it need not be typed again. */
export type TypedLink = { iss: string; sub: string };

/** Whether something was done; else the notice says why not. */
export function isDone(notice: AdminNotice): boolean {
  return done.some((each) => each === notice);
}

const noticeSeconds = 120;
const cookieName = "countersign.admin-notice";
/** Browsers drop a cookie of more than 4,096 bytes (RFC 6265 section 6.1). */
const typedMaxBytes = 2_000;

const schema = z.object({
  sid: z.string(),
  page: z.string(),
  until: z.number(),
  notice: z.enum([...done, ...refused]),
  link: z.object({ iss: z.string(), sub: z.string() }).optional(),
});

type Place = { sid: string; page: string };

/** A `Set-Cookie` that says on the next view of `page` what came of a form: encrypted, for this session, for two minutes. */
export async function noticeCookie(
  service: Service,
  { sid, page }: Place,
  notice: AdminNotice,
  link?: TypedLink,
): Promise<string> {
  const isKept = link !== undefined && Buffer.byteLength(JSON.stringify(link)) <= typedMaxBytes;
  const until = Date.now() + noticeSeconds * 1000;
  const claims = { sid, page, until, notice, ...(isKept ? { link } : {}) };
  const value = await seal(service.secrets, "flash", "admin-notice", claims);
  const secure = service.config.url.startsWith("https:") ? "; Secure" : "";
  return `${cookieName}=${value}; Path=/admin; Max-Age=${noticeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** What the last form left for this session and page, or undefined. */
export async function readNotice(
  service: Service,
  headers: Headers,
  { sid, page }: Place,
): Promise<{ notice: AdminNotice; link: TypedLink | undefined } | undefined> {
  const value = readCookie(headers, cookieName);
  if (!value) return undefined;
  const claims = schema.safeParse(await open(service.secrets, "flash", "admin-notice", value)).data;
  if (!claims || claims.sid !== sid || claims.page !== page || claims.until < Date.now()) return undefined;
  return { notice: claims.notice, link: claims.link };
}

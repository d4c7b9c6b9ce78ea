import { z } from "zod";
import type { DecisionNotice } from "../approvals/decide";
import type { FlowRefusal } from "../oidc/finish";
import type { Service } from "../process";
import { open, seal } from "../secrets/seal";
import { readCookie } from "../sessions/cookie";

const flashSeconds = 120;
const cookieName = "countersign.flash";
/** Browsers drop a cookie of more than 4,096 bytes (RFC 6265 section 6.1), and the notice with it; encryption adds a third and some. */
const noteMaxBytes = 2_500;

const schema = z.object({
  sid: z.string(),
  target: z.string(),
  until: z.number(),
  notice: z.string(),
  note: z.string(),
});

/** What a page of an approval has to say. */
export type Notice =
  | DecisionNotice
  | "already_decided"
  | "too_late"
  | "lifted"
  | "stale_form"
  | SignInNotice
  | LinkNotice;

/**
 * What the pages that ask for a fresh sign-in have to say. `flow_used`: what began at the provider was finished before, or took too long;
 * `provider_failed`: the provider could not be asked or believed; `provider_declined`: it, or the person there, said no. With `throttled`
 * the note is the wait in seconds.
 */
export type SignInNotice =
  | FlowRefusal
  | "wrong_password"
  | "throttled"
  | "unavailable"
  | "stale_form"
  | "flow_used"
  | "provider_failed"
  | "provider_declined";

/** What the account page has to say of linked identities. */
export type LinkNotice = SignInNotice | "linked" | "unlinked" | "in_use" | "not_found";
export type Flash = { notice: Notice; note: string };

/**
 * A `Set-Cookie` that carries what to say on the next page, and the note that was typed, so that it need not be typed again. Encrypted (JWE
 * `dir`, A256GCM), for this session and page, for two minutes; never the code. A later form replaces it.
 */
export async function flashCookie(
  service: Service,
  binding: { sid: string; target: string },
  flash: Flash,
): Promise<string> {
  const claims = {
    ...binding,
    notice: flash.notice,
    note: fitted(flash.note),
    until: Date.now() + flashSeconds * 1000,
  };
  const value = await seal(service.secrets, "flash", "notice", claims);
  return `${cookieName}=${value}; ${attributes(service, flashSeconds, pathFor(binding.target))}`;
}

/** Takes the notice away, once something was decided. */
export function clearFlash(service: Service): string {
  return `${cookieName}=; ${attributes(service, 0, pathFor(""))}`;
}

/** What the last form left for this session and page, or undefined. */
export async function readFlash(
  service: Service,
  headers: Headers,
  binding: { sid: string; target: string },
): Promise<Flash | undefined> {
  const value = readCookie(headers, cookieName);
  if (!value) return undefined;
  const claims = schema.safeParse(await open(service.secrets, "flash", "notice", value)).data;
  if (!claims || claims.sid !== binding.sid || claims.target !== binding.target || claims.until < Date.now())
    return undefined;
  return { notice: claims.notice as Notice, note: claims.note };
}

/** As much of the note as a cookie holds, in whole characters. Only a note that is too long, or full of controls, does not fit. */
function fitted(note: string): string {
  let size = 0;
  let kept = "";
  for (const character of note) {
    size += Buffer.byteLength(JSON.stringify(character)) - 2;
    if (size > noteMaxBytes) break;
    kept += character;
  }
  return kept;
}

/** Where the pages of a target are: those of the account, else those of approvals. */
const pathFor = (target: string) => (target.startsWith("account") ? "/account" : "/a/");

function attributes(service: Service, maxAge: number, path: string): string {
  return `Path=${path}; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${service.config.url.startsWith("https:") ? "; Secure" : ""}`;
}

/** `target` of what a page says that asks for a fresh sign-in: for an approval's id, or `account`. */
export function stepUpTarget(stepUpFor: string): string {
  return `${stepUpFor}:step_up`;
}

/** `target` of what the account page says of linked identities. */
export const linksTarget = "account:links";

/** `target` of what the account page says as a whole. */
export const accountTarget = "account";

import { CompactEncrypt, compactDecrypt } from "jose";
import { z } from "zod";
import type { DecisionNotice } from "../approvals/decide";
import type { Service } from "../process";
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

export type Notice = DecisionNotice | "already_decided" | "too_late" | "wrong_password" | "lifted";
export type Flash = { notice: Notice; note: string };

/**
 * A `Set-Cookie` that carries what to say on the next page, and the note that was typed, so that it need not be typed again. Encrypted (JWE
 * `dir`, A256GCM), for this session and approval, for two minutes; never the code. A later form replaces it.
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
  const value = await new CompactEncrypt(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: "dir", enc: "A256GCM" })
    .encrypt(service.secrets.flash);
  return `${cookieName}=${value}; ${attributes(service, flashSeconds)}`;
}

/** Takes the notice away, once something was decided. */
export function clearFlash(service: Service): string {
  return `${cookieName}=; ${attributes(service, 0)}`;
}

/** What the last form left for this session and approval, or undefined. */
export async function readFlash(
  service: Service,
  headers: Headers,
  binding: { sid: string; target: string },
): Promise<Flash | undefined> {
  const value = readCookie(headers, cookieName);
  if (!value) return undefined;
  const opened = await compactDecrypt(value, service.secrets.flash, {
    keyManagementAlgorithms: ["dir"],
    contentEncryptionAlgorithms: ["A256GCM"],
  }).catch(() => undefined);
  const claims = opened && schema.safeParse(JSON.parse(new TextDecoder().decode(opened.plaintext))).data;
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

function attributes(service: Service, maxAge: number): string {
  return `Path=/a/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${service.config.url.startsWith("https:") ? "; Secure" : ""}`;
}

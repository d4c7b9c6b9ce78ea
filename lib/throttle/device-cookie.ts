import { randomBytes } from "node:crypto";
import type { Service } from "../process";
import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";
import { readCookie } from "../sessions/cookie";

const deviceSeconds = 180 * 24 * 3600;

/** Of whom a device is known. The stored hash is another with each password. */
type Owner = { id: string; passwordHash: string | null };

/**
 * A `Set-Cookie` value by which this browser is known to have signed in as this user: to be set after each successful sign-in, whatever
 * proved it. It signs nobody in. It only makes the browser a source of its own, so that strangers who guess at the account do not slow down
 * its owner. It names the user by a keyed digest alone, counts for 180 days, and no longer than the password that the account has now.
 */
export async function deviceCookie(service: Service, userId: string): Promise<string> {
  const select = { id: true, passwordHash: true } as const;
  const owner = await service.prisma.user.findUniqueOrThrow({ where: { id: userId }, select });
  const id = randomBytes(16).toString("base64url");
  const issuedAt = Math.floor(Date.now() / 1000);
  const proof = mac(service.secrets.tag, partsOf(owner, id, issuedAt)).toString("base64url");
  const { url } = service.config;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${deviceSeconds}${url.startsWith("https:") ? "; Secure" : ""}`;
  return `${nameOf(url)}=${id}.${issuedAt}.${proof}; ${attributes}`;
}

/** The device cookie of a request, to be handed to `authenticate`; it says nothing yet. */
export function readDeviceCookie(service: Service, headers: Headers): string | undefined {
  return readCookie(headers, nameOf(service.config.url));
}

/** The id of the device, where the cookie is ours, of this very user, of their present password and no older than 180 days. */
export function deviceOf(secrets: Secrets, owner: Owner, cookie: string | undefined): string | undefined {
  const [, id = "", issued = "", proof = ""] = /^([\w-]{22})\.(\d{1,12})\.([\w-]{43})$/.exec(cookie ?? "") ?? [];
  const issuedAt = Number(issued);
  const isOurs = isMacOf(secrets, "tag", partsOf(owner, id, issuedAt), Buffer.from(proof, "base64url"));
  return isOurs && issuedAt + deviceSeconds > Date.now() / 1000 ? id : undefined;
}

const partsOf = ({ id: userId, passwordHash }: Owner, id: string, issuedAt: number): MacParts => [
  "device",
  userId,
  passwordHash,
  id,
  issuedAt,
];

const nameOf = (publicUrl: string) =>
  publicUrl.startsWith("https:") ? "__Host-countersign.device" : "countersign.device";

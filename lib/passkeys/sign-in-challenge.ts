import { randomBytes } from "node:crypto";
import { z } from "zod";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import { open, seal } from "../secrets/seal";
import { readCookie } from "../sessions/cookie";
import { challengeSeconds } from "./challenge";

/** A question to the authenticator of somebody who has not signed in, and the cookie that binds it to their browser. */
export type SignInChallenge = { challenge: string; cookie: string };

/**
 * Makes a challenge for a sign-in, good for 120 s by the database's clock. It is kept in the browser alone, encrypted, so that strangers
 * who ask for challenges fill no table; `spendSignInChallenge` sees to it that each is answered once.
 */
export async function makeSignInChallenge(service: Service): Promise<SignInChallenge> {
  const challenge = randomBytes(32).toString("base64url");
  const issuedAt = (await readClock(service.pool)).getTime();
  const value = await seal(service.secrets, "flow", cookiePurpose, { challenge, issuedAt });
  const { name, attributes } = cookieFor(service.config.url);
  return { challenge, cookie: `${name}=${value}; Max-Age=${challengeSeconds}; ${attributes}` };
}

/** The challenge that this browser was given, or undefined: none, or too old by the database's clock. */
export async function readSignInChallenge(service: Service, headers: Headers): Promise<Issued | undefined> {
  const value = readCookie(headers, cookieFor(service.config.url).name);
  const issued = value && issuedSchema.safeParse(await open(service.secrets, "flow", cookiePurpose, value)).data;
  if (!issued) return undefined;
  const ageMs = (await readClock(service.pool)).getTime() - issued.issuedAt;
  return ageMs < challengeSeconds * 1000 ? issued : undefined;
}

/**
 * Spends a challenge that was answered rightly: true once. Only the right answer of a passkey that is registered here leaves a row, and
 * until the challenge would have expired.
 */
export async function spendSignInChallenge(service: Service, issued: Issued): Promise<boolean> {
  const { rowCount } = await service.pool.query(
    `INSERT INTO "passkey_challenge" ("challenge", "purpose", "issued_at", "expires_at")
     VALUES ($1, 'sign_in', $2, $2::timestamptz + make_interval(secs => $3)) ON CONFLICT DO NOTHING`,
    [issued.challenge, new Date(issued.issuedAt), challengeSeconds],
  );
  return rowCount === 1;
}

/** `issuedAt` in milliseconds since the epoch. */
type Issued = z.infer<typeof issuedSchema>;
const issuedSchema = z.object({ challenge: z.string(), issuedAt: z.number() });

const cookiePurpose = "passkey-sign-in";

function cookieFor(publicUrl: string): { name: string; attributes: string } {
  const isSecure = publicUrl.startsWith("https:");
  return {
    name: isSecure ? "__Host-countersign.passkey" : "countersign.passkey",
    attributes: `Path=/; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`,
  };
}

import { randomBytes } from "node:crypto";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import { isMacOf, type MacParts, mac } from "../secrets/mac";
import { issueChallenge, takeChallenge } from "./challenge";

/** `target` says what an answer is good for: an approval's id, or another word; empty where nothing in particular. */
export type BoundTo = { purpose: "register" | "sign_in"; sid: string; target: string };

/**
 * Asks an authenticator something that only this session can have answered, for this target, once, within 120 s. The challenge
 * authenticates its own row: whoever can write rows, but lacks the secret, makes none (I17). base64url.
 */
export async function issueBoundChallenge(service: Service, of: BoundTo): Promise<string> {
  const nonce = randomBytes(16).toString("base64url");
  const issuedAt = await readClock(service.pool);
  const challenge = mac(service.secrets.row, partsOf(of, nonce, issuedAt)).toString("base64url");
  await issueChallenge(service.pool, { purpose: of.purpose, sid: of.sid, nonce, challenge, issuedAt });
  return challenge;
}

/** Takes a challenge away and says whether it was one of these, still good. */
export async function takeBoundChallenge(service: Service, of: BoundTo & { challenge: string }): Promise<boolean> {
  const { challenge, purpose, sid } = of;
  const taken = await takeChallenge(service.pool, { challenge, purpose, sid });
  if (!taken?.nonce) return false;
  return isMacOf(service.secrets, "row", partsOf(of, taken.nonce, taken.issuedAt), Buffer.from(challenge, "base64url"));
}

const partsOf = ({ purpose, sid, target }: BoundTo, nonce: string, issuedAt: Date): MacParts => [
  "passkey_challenge",
  purpose,
  sid,
  target,
  nonce,
  issuedAt.getTime(),
];

import { generateRegistrationOptions, type PublicKeyCredentialCreationOptionsJSON } from "@simplewebauthn/server";
import type pg from "pg";
import { appendAudit } from "../audit/append";
import { readClock } from "../database/clock";
import { transact } from "../database/transact";
import type { Service } from "../process";
import type { PersonSession } from "../sessions/session";
import { issueBoundChallenge, takeBoundChallenge } from "./bound-challenge";
import { challengeSeconds } from "./challenge";
import { mayChangePasskeys } from "./may-change";
import { cleanPasskeyName } from "./name";
import { macOfPasskey, readPasskeysOfUser } from "./passkey";
import { passkeyAlgorithms } from "./public-jwk";
import { relyingParty } from "./relying-party";
import { userHandleOf } from "./user-handle";
import { parseRegistration, type Registered, verifyRegistration } from "./verify-registration";

/** Of one identity. */
export const passkeysMax = 20;

export type AskToRegister =
  | { kind: "question"; question: PublicKeyCredentialCreationOptionsJSON }
  | { kind: "sign_in_again" | "too_many" | "bad_name" };

/**
 * Asks the person's authenticator for a passkey that finds its account by itself and verifies its user (WebAuthn level 3, section 5.4),
 * for the identity of this session. `sign_in_again`: see `mayChangePasskeys`; `too_many`: there are 20; `bad_name`: the name
 * could not be given later on.
 */
export async function askToRegister(service: Service, session: PersonSession, name: string): Promise<AskToRegister> {
  if (cleanPasskeyName(name) === undefined) return { kind: "bad_name" };
  const all = await readPasskeysOfUser(service.prisma, service.secrets, session.userId);
  const existing = all.filter(({ iss, sub }) => iss === session.iss && sub === session.sub);
  if (!mayChangePasskeys(session, all.length, await readClock(service.pool))) return { kind: "sign_in_again" };
  if (existing.length >= passkeysMax) return { kind: "too_many" };
  const challenge = await issueBoundChallenge(service, { purpose: "register", sid: session.sid, target: "" });
  const { rpId, name: rpName } = relyingParty(service.config);
  const question = await generateRegistrationOptions({
    rpName,
    rpID: rpId,
    userName: session.account,
    userDisplayName: session.name,
    userID: userHandleOf(session),
    challenge: Buffer.from(challenge, "base64url"),
    timeout: challengeSeconds * 1000,
    attestationType: "none",
    excludeCredentials: existing.map(({ credentialId: id, transports }) => ({ id, transports })),
    authenticatorSelection: { residentKey: "required", userVerification: "required" },
    supportedAlgorithmIDs: passkeyAlgorithms,
  });
  return { kind: "question", question };
}

/** `refused`: the answer does not count, or the passkey is registered already. */
export type RegisterResult =
  | { kind: "registered"; credentialId: string }
  | { kind: "refused" | "sign_in_again" | "too_many" | "bad_name" };

/**
 * Registers the passkey that answers a challenge of this session, under a name of the person's choice. Registration and audit event
 * commit together. Whatever comes of it, the challenge is spent.
 */
export async function registerPasskey(
  service: Service,
  session: PersonSession,
  sent: { answer: string; name: string },
): Promise<RegisterResult> {
  const answer = parseRegistration(sent.answer);
  if (!answer) return { kind: "refused" };
  const { challenge } = answer;
  const { sid, iss, sub, userId } = session;
  const asked = { purpose: "register", sid, target: "", challenge } as const;
  if (!(await takeBoundChallenge(service, asked))) return { kind: "refused" };
  const name = cleanPasskeyName(sent.name);
  if (name === undefined) return { kind: "bad_name" };
  const registered = await verifyRegistration(answer, { challenge, relyingParty: relyingParty(service.config) });
  if (!registered) return { kind: "refused" };
  return transact(service.pool, async (db) => {
    await db.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [["passkeys", userId].join("\n")]);
    // Read apart, under the lock: whatever was registered before is committed. Rows that do not count do not stand in the way either.
    const all = await readPasskeysOfUser(service.prisma, service.secrets, userId);
    const own = all.filter((passkey) => passkey.iss === iss && passkey.sub === sub);
    if (own.length >= passkeysMax) return { kind: "too_many" };
    // Of two first ones that were asked for at once, the second would need the first.
    if (!mayChangePasskeys(session, all.length, await readClock(db))) return { kind: "sign_in_again" };
    if (!(await insert(service, db, { ...registered, userId, iss, sub, name }))) return { kind: "refused" };
    await appendAudit(db, {
      type: "person.passkey_added",
      actor: { kind: "person", iss, sub, userId },
      data: { credentialId: registered.credentialId },
    });
    return { kind: "registered", credentialId: registered.credentialId };
  });
}

/** False where somebody has registered this credential already (section 7.1, step 26). */
async function insert(
  service: Service,
  db: pg.PoolClient,
  passkey: Registered & { userId: string; iss: string; sub: string; name: string },
): Promise<boolean> {
  const { credentialId, userId, iss, sub, publicKey, counter, transports, isBackedUp, name } = passkey;
  const createdAt = await readClock(db);
  const { rowCount } = await db.query(
    `INSERT INTO "passkey" ("credential_id", "user_id", "iss", "sub", "public_key", "counter", "transports", "is_backed_up", "name", "created_at", "mac")
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING`,
    [
      credentialId,
      userId,
      iss,
      sub,
      Buffer.from(publicKey),
      counter,
      transports,
      isBackedUp,
      name,
      createdAt,
      macOfPasskey(service.secrets, { ...passkey, createdAt }),
    ],
  );
  return rowCount === 1;
}

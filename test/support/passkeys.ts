import { randomBytes } from "node:crypto";
import { verifyRegistrationResponse } from "@simplewebauthn/server";
import { macOfPasskey } from "@/lib/passkeys/passkey";
import { relyingParty } from "@/lib/passkeys/relying-party";
import { userHandleOf } from "@/lib/passkeys/user-handle";
import type { Service } from "@/lib/process";
import { type AuthenticatorOptions, createAuthenticator, type SoftwareAuthenticator } from "./software-authenticator";

type Identity = { userId: string; iss: string; sub: string };

/** A passkey that this identity registered an hour ago, or when `createdAt` says, with the authenticator that holds it. */
export async function addPasskey(
  service: Service,
  { userId, iss, sub }: Identity,
  options: { alg?: NonNullable<AuthenticatorOptions["alg"]>; createdAt?: Date } = {},
): Promise<SoftwareAuthenticator> {
  const { rpId, origin } = relyingParty(service.config);
  const authenticator = createAuthenticator({ rpId, origin, ...(options.alg ? { alg: options.alg } : {}) });
  const challenge = randomBytes(32).toString("base64url");
  const { registrationInfo } = await verifyRegistrationResponse({
    response: authenticator.register(challenge, userHandleOf({ userId, iss, sub }).toString("base64url")),
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpId,
  });
  if (!registrationInfo) throw new Error("the authenticator could not register");
  const row = {
    credentialId: registrationInfo.credential.id,
    userId,
    iss,
    sub,
    publicKey: new Uint8Array(registrationInfo.credential.publicKey),
    counter: 0,
    transports: ["internal"],
    isBackedUp: false,
    name: "Test",
    createdAt: options.createdAt ?? new Date(Date.now() - 3_600_000),
    lastUsedAt: null,
  };
  await service.prisma.passkey.create({ data: { ...row, mac: macOfPasskey(service.secrets, row) } });
  return authenticator;
}

import { randomBytes } from "node:crypto";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";
import { describe, expect, it } from "vitest";
import { createAuthenticator, FLAG } from "../../support/software-authenticator";

const origin = "https://approve.example.com";
const rpId = "approve.example.com";
const anyChallenge = () => randomBytes(32).toString("base64url");
const userHandle = randomBytes(16).toString("base64url");

describe("the software authenticator of the tests", () => {
  it.each([-7, -8, -257] as const)("registers and signs with COSE algorithm %s as a real one would", async (alg) => {
    const authenticator = createAuthenticator({ rpId, origin, alg });
    const challenge = anyChallenge();
    const registered = await verifyRegistrationResponse({
      response: authenticator.register(challenge, userHandle),
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
    });
    expect(registered).toMatchObject({ verified: true, registrationInfo: { userVerified: true, fmt: "none" } });
    const credential = registered.registrationInfo?.credential;
    if (credential === undefined) throw new Error("no credential");
    expect(credential.id).toBe(authenticator.credentialId);

    const next = anyChallenge();
    const response = authenticator.get(next);
    expect(response.response.userHandle).toBe(userHandle);
    const judge = (expectedChallenge: string) =>
      verifyAuthenticationResponse({
        response,
        expectedChallenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
        credential,
      });
    expect(await judge(next)).toMatchObject({ verified: true });
    await expect(judge(challenge)).rejects.toThrow("challenge");
  });

  it("says otherwise where it is told to", async () => {
    const authenticator = createAuthenticator({ rpId, origin });
    const challenge = anyChallenge();
    const judge = (overrides: Parameters<typeof authenticator.register>[2]) =>
      verifyRegistrationResponse({
        response: authenticator.register(challenge, userHandle, overrides),
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: rpId,
      });
    await expect(judge({ origin: "https://evil.example.com" })).rejects.toThrow("origin");
    await expect(judge({ rpId: "evil.example.com" })).rejects.toThrow("RP ID");
    await expect(judge({ type: "webauthn.get" })).rejects.toThrow("type");
    await expect(judge({ flags: FLAG.userPresent | FLAG.attested })).rejects.toThrow("User verification");
    expect(authenticator.get(challenge, { userHandle: null }).response.userHandle).toBeUndefined();
  });
});

import { randomUUID } from "node:crypto";
import { challengeSeconds } from "@/lib/passkeys/challenge";
import { relyingParty } from "@/lib/passkeys/relying-party";
import { makeSignInChallenge } from "@/lib/passkeys/sign-in-challenge";
import { Problem, toProblemResponse } from "@/lib/problem";
import { getService } from "@/lib/process";
import { isSameOrigin } from "@/lib/requests/same-origin";

/** What somebody who has not signed in asks their authenticator: any passkey of this service, so it tells nothing about anybody. */
export async function postPasskeyChallenge(request: Request): Promise<Response> {
  const service = getService();
  try {
    if (!isSameOrigin(request.headers, service.config.url)) throw new Problem("forbidden_origin");
    const { challenge, cookie } = await makeSignInChallenge(service);
    const question = {
      challenge,
      rpId: relyingParty(service.config).rpId,
      allowCredentials: [],
      userVerification: "required",
      timeout: challengeSeconds * 1000,
    };
    return Response.json({ question }, { headers: { "Cache-Control": "no-store", "Set-Cookie": cookie } });
  } catch (error) {
    if (!(error instanceof Problem))
      service.log.error({ reason: (error as Error).message }, "a sign-in with a passkey could not begin");
    return toProblemResponse(error, `req_${randomUUID()}`);
  }
}

"use client";

import { startAuthentication } from "@simplewebauthn/browser";
import { PasskeyAction, type PasskeyTexts } from "./passkey-action";
import { postFields } from "./passkey-question";

type Props = { csrf: string; stepUpFor: string; to: string; texts: PasskeyTexts };
type Question = Parameters<typeof startAuthentication>[0]["optionsJSON"];

/** Asks the person's authenticator for a fresh proof, and goes on where the server accepts it. */
export function PasskeyStepUpButton({ csrf, stepUpFor, to, texts }: Props) {
  async function prove() {
    const asked = await postFields<Question>("/account/passkeys/step-up/challenge", { csrf, stepUpFor });
    if (!asked?.question) return reload();
    const answer = JSON.stringify(await startAuthentication({ optionsJSON: asked.question }));
    const proved = await postFields("/account/passkeys/step-up", { csrf, stepUpFor, answer });
    if (!proved) return reload();
    if (proved.fault) return "failed";
    window.location.assign(to);
    return "leaving";
  }
  return <PasskeyAction texts={texts} act={prove} />;
}

/** The page of whoever was signed out meanwhile, or has no passkey any more, says so. */
function reload(): "leaving" {
  window.location.reload();
  return "leaving";
}

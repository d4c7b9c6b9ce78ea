"use client";

import { startAuthentication } from "@simplewebauthn/browser";
import { useRef } from "react";
import { PasskeyAction, type PasskeyTexts } from "../passkey-action";
import { postFields } from "../passkey-question";

/** `csrfToken` is next-auth's own. */
type Props = { csrfToken: string; callbackUrl: string; texts: PasskeyTexts };
type Question = Parameters<typeof startAuthentication>[0]["optionsJSON"];

/** Signs in with whichever passkey the person's device offers for this service: sends its answer like the form of a password. */
export function PasskeyButton({ csrfToken, callbackUrl, texts }: Props) {
  const form = useRef<HTMLFormElement>(null);
  const answer = useRef<HTMLInputElement>(null);

  async function signIn() {
    const asked = await postFields<Question>("/signin/passkey-challenge", {});
    if (!asked?.question || !form.current || !answer.current) return "failed";
    answer.current.value = JSON.stringify(await startAuthentication({ optionsJSON: asked.question }));
    form.current.submit();
    return "leaving";
  }

  return (
    <form ref={form} method="post" action="/api/auth/callback/passkey">
      <input type="hidden" name="csrfToken" value={csrfToken} />
      <input type="hidden" name="callbackUrl" value={callbackUrl} />
      <input type="hidden" name="answer" ref={answer} />
      <PasskeyAction texts={texts} act={signIn} />
    </form>
  );
}

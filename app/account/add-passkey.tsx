"use client";

import { browserSupportsWebAuthn, startRegistration, WebAuthnError } from "@simplewebauthn/browser";
import { type FormEvent, useEffect, useState } from "react";
import { type PasskeyAnswer, postFields } from "../passkey-question";

type Fault = "cancelled" | "exists" | "refused" | "too_many" | "bad_name" | "unsupported";
type Props = {
  csrf: string;
  nameMax: number;
  texts: { name: string; hint: string; add: string; waiting: string; faults: Record<Fault, string> };
};
type Question = Parameters<typeof startRegistration>[0]["optionsJSON"];

/** Has the person's device make a passkey, and registers it under the name that they give. */
export function AddPasskey({ csrf, nameMax, texts }: Props) {
  const [state, setState] = useState<"starting" | "ready" | "waiting" | Fault>("starting");
  useEffect(() => setState(browserSupportsWebAuthn() ? "ready" : "unsupported"), []);

  async function add(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("name"));
    setState("waiting");
    setState(await register({ csrf, name }).catch(faultOf));
  }

  const isBusy = state === "starting" || state === "waiting" || state === "unsupported";
  const isFault = state !== "starting" && state !== "ready" && state !== "waiting";
  return (
    <form className="grid gap-3" onSubmit={add}>
      <div>
        <label className="block">
          <span className="label">{texts.name}</span>
          <input
            className="input mt-1"
            name="name"
            maxLength={nameMax}
            pattern=".*\S.*"
            autoComplete="off"
            aria-describedby="passkey-name-hint"
            required
          />
        </label>
        <p className="text-muted mt-1 text-sm" id="passkey-name-hint">
          {texts.hint}
        </p>
      </div>
      <button className="button button-accent sm:justify-self-start" type="submit" disabled={isBusy}>
        {texts.add}
      </button>
      <p className={isFault ? "notice" : "text-muted text-sm empty:hidden"} role="status">
        {isFault ? texts.faults[state] : state === "waiting" ? texts.waiting : ""}
      </p>
    </form>
  );
}

async function register(fields: { csrf: string; name: string }): Promise<"waiting" | Fault> {
  const asked = await postFields<Question>("/account/passkeys/challenge", fields);
  if (!asked?.question) return follow(asked);
  const answer = JSON.stringify(await startRegistration({ optionsJSON: asked.question }));
  return follow(await postFields("/account/passkeys", { ...fields, answer }));
}

/** Says what is wrong, or leaves the page: to where the answer leads, or to this page as it is now. */
function follow(answer: PasskeyAnswer<unknown> | undefined): "waiting" | Fault {
  if (answer?.fault) return answer.fault as Fault;
  const to = new URL(answer?.goTo ?? window.location.href, window.location.href);
  if (to.pathname === window.location.pathname) window.location.reload();
  else window.location.assign(to);
  return "waiting";
}

function faultOf(error: unknown): Fault {
  const code = error instanceof WebAuthnError ? error.code : undefined;
  if (code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED") return "exists";
  // The page is not at the service's own name, or at an address: no device makes a passkey there.
  return code === "ERROR_INVALID_DOMAIN" || code === "ERROR_INVALID_RP_ID" ? "unsupported" : "cancelled";
}

"use client";

import { startAuthentication } from "@simplewebauthn/browser";
import { type MouseEvent, useEffect, useState } from "react";

type Texts = { approve: string; waiting: string; failed: string };
type Answer = { question?: Parameters<typeof startAuthentication>[0]["optionsJSON"]; goTo?: string };

/**
 * The Approve button where a passkey has to sign: fetches what is to be signed, hands it to the authenticator, and sends its answer with
 * the form. It decides nothing: the server judges the answer like everything else on the form.
 */
export function ApproveWithPasskey({ challengePath, texts }: { challengePath: string; texts: Texts }) {
  const [state, setState] = useState<"starting" | "ready" | "waiting" | "failed">("starting");
  useEffect(() => setState("ready"), []);

  async function approve(event: MouseEvent<HTMLButtonElement>) {
    const { form } = event.currentTarget;
    if (!form?.reportValidity()) return;
    setState("waiting");
    try {
      const answered = await fetch(challengePath, { method: "POST", body: fieldsOf(form) });
      if (answered.redirected || !answered.ok) return window.location.reload();
      const { question, goTo } = (await answered.json()) as Answer;
      if (!question) return window.location.assign(goTo ?? window.location.href);
      const assertion = await startAuthentication({ optionsJSON: question });
      put(form, "passkey", JSON.stringify(assertion));
      put(form, "decision", "accept");
      form.submit();
    } catch {
      // Cancelled, timed out, or no authenticator at hand: nothing was sent.
      setState("failed");
    }
  }

  return (
    <>
      <button
        className="button button-accent"
        type="button"
        onClick={approve}
        disabled={state === "starting" || state === "waiting"}
      >
        {texts.approve}
      </button>
      <p className={state === "failed" ? "notice order-last col-span-2" : "sr-only"} role="status">
        {state === "failed" ? texts.failed : state === "waiting" ? texts.waiting : ""}
      </p>
    </>
  );
}

function fieldsOf(form: HTMLFormElement): URLSearchParams {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string") fields.append(name, value);
  return fields;
}

function put(form: HTMLFormElement, name: string, value: string) {
  const existing = form.querySelector<HTMLInputElement>(`input[type=hidden][name="${name}"]`);
  const input = existing ?? form.appendChild(document.createElement("input"));
  input.type = "hidden";
  input.name = name;
  input.value = value;
}

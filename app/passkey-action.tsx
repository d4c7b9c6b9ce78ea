"use client";

import { browserSupportsWebAuthn } from "@simplewebauthn/browser";
import { useEffect, useState } from "react";

export type PasskeyTexts = { use: string; waiting: string; failed: string; unsupported: string };

/** A button that asks the person's authenticator. `act` leads away from the page, or says that it failed, also by throwing. */
export function PasskeyAction({ texts, act }: { texts: PasskeyTexts; act: () => Promise<"leaving" | "failed"> }) {
  const [state, setState] = useState<"starting" | "ready" | "waiting" | "failed" | "unsupported">("starting");
  useEffect(() => setState(browserSupportsWebAuthn() ? "ready" : "unsupported"), []);

  async function press() {
    setState("waiting");
    try {
      if ((await act()) === "failed") setState("failed");
    } catch {
      // Cancelled, timed out, or no passkey at hand.
      setState("failed");
    }
  }

  const said = {
    starting: "",
    ready: "",
    waiting: texts.waiting,
    failed: texts.failed,
    unsupported: texts.unsupported,
  };
  const isEnabled = state === "ready" || state === "failed";
  return (
    <>
      <button className="button w-full" type="button" onClick={press} disabled={!isEnabled}>
        {texts.use}
      </button>
      <p className={state === "failed" ? "notice mt-3" : "text-muted mt-2 text-sm empty:hidden"} role="status">
        {said[state]}
      </p>
    </>
  );
}

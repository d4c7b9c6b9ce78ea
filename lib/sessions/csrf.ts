import type { Secrets } from "../secrets/derive";
import { isMacOf, type MacParts, mac } from "../secrets/mac";

/** A token for one form: bound to the session, to what the form is for, and to the thing it acts on. */
export function csrfToken(secrets: Secrets, binding: CsrfBinding): string {
  return mac(secrets.csrf, partsOf(binding)).toString("base64url");
}

/** `target` is an approval's id, or names what a form of the account and admin pages acts on, such as `passkey:ID`; empty where nothing in particular. */
export type CsrfBinding = {
  sid: string;
  purpose: "decide" | "take_back" | "lift_cooldown" | "step_up" | "account" | "admin";
  target: string;
};

export function isCsrfToken(secrets: Secrets, binding: CsrfBinding, token: string): boolean {
  return isMacOf(secrets, "csrf", partsOf(binding), Buffer.from(token, "base64url"));
}

const partsOf = ({ sid, purpose, target }: CsrfBinding): MacParts => ["csrf", sid, purpose, target];

import type { SignInNotice } from "./flash";
import { samePath } from "./same-path";

/** What the sign-in page has to say, in its address; it names nobody and nothing. */
const errors = {
  wrong: true,
  passkey: true,
  throttled: true,
  unavailable: true,
  stale_form: true,
  claims: true,
  no_access: true,
  other_session: true,
  flow_used: true,
  provider_failed: true,
  provider_declined: true,
  failed: true,
} as const;
export type SignInError = keyof typeof errors;

/** The sign-in page that leads to `to` afterwards, with what went wrong before. */
export function signInPage(to: string, error?: SignInError, retryAfterSeconds?: number): string {
  const query = new URLSearchParams({ callbackUrl: samePath(to) });
  if (error) query.set("error", error);
  if (retryAfterSeconds !== undefined) query.set("seconds", String(retryAfterSeconds));
  return `/signin?${query}`;
}

/** The words of a notice that the sign-in page has too; the others become `failed`. */
export function signInErrorOf(notice: SignInNotice | string): SignInError {
  if (notice === "CredentialsSignin") return "wrong";
  return Object.hasOwn(errors, notice) ? (notice as SignInError) : "failed";
}

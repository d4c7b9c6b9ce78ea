import { signInAgainPath } from "../sign-in-again/path";

/** What the token of a form that changes a passkey is bound to. */
export const passkeyTarget = (credentialId: string) => `passkey:${credentialId}`;

/** Of the form that registers one. */
export const newPasskeyTarget = "passkey:new";

/** Where what changes the account leads whose sign-in is too old, and back. */
export const signInAgain = signInAgainPath("/account");

/** The section of the page. */
export const passkeysPlace = "/account#passkeys";

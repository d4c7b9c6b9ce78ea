import { signInAgainPath } from "../sign-in-again/path";

/** What the token of a form that lifts a freeze is bound to. */
export const freezeTarget = (freezeId: string) => `freeze:${freezeId}`;

/** The section of the account page. */
export const freezesPlace = "/account#freezes";

/** Where lifting leads whose sign-in is too old, and back. */
export const signInAgain = signInAgainPath(freezesPlace);

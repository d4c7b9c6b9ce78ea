import { signInAgainPath } from "../sign-in-again/path";

/** What the token of a form that goes to a provider to link an account is bound to. */
export const linkTarget = (providerId: string) => `link:${providerId}`;

/** What the token of a form that takes a link away is bound to. */
export const unlinkTarget = ({ iss, sub }: { iss: string; sub: string }) => `unlink:${JSON.stringify([iss, sub])}`;

/** The section of the account page. */
export const linksPlace = "/account#links";

/** Where changing a link leads whose sign-in is too old, and back. */
export const signInAgain = signInAgainPath(linksPlace);

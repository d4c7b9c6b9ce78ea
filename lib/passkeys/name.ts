import { withoutHidden } from "../text/hidden";

/** Characters. */
export const passkeyNameMax = 60;

/**
 * What a person calls a passkey, as one visible line: nothing hidden, white space as single spaces. Undefined where nothing is left of it,
 * or more than 60 characters.
 */
export function cleanPasskeyName(text: string): string | undefined {
  const name = withoutHidden(text).replace(/ +/g, " ").trim();
  return name === "" || [...name].length > passkeyNameMax ? undefined : name;
}

import { Problem } from "../problem";
import { withoutHidden } from "../text/hidden";

export const passkeyNameMax = 60;

/**
 * What a person calls a passkey, as one visible line: nothing hidden, white space as single spaces. Errors: `invalid_request` where
 * nothing is left of it, or more than 60 characters.
 */
export function cleanPasskeyName(text: string): string {
  const name = withoutHidden(text).replace(/ +/g, " ").trim();
  if (name === "" || [...name].length > passkeyNameMax)
    throw new Problem("invalid_request", {
      errors: [{ pointer: "/name", message: `must have 1 to ${passkeyNameMax} characters` }],
    });
  return name;
}

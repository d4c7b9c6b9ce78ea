import type { FormHandler } from "../posted-form";
import { postPasskeyChallenge } from "./passkey-challenge";

export const signInForms: Record<string, FormHandler> = {
  "/signin/passkey-challenge": postPasskeyChallenge,
};

import type { FormHandler } from "../posted-form";

export const signInForms: Record<string, FormHandler> = {};

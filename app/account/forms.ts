import type { FormHandler } from "../posted-form";

export const accountForms: Record<string, FormHandler> = {};

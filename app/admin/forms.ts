import type { FormHandler } from "../posted-form";

export const adminForms: Record<string, FormHandler> = {};

import { z } from "zod";
import { parseSurfaces } from "./parse";

/** `SURFACES`, as `parseSurfaces` reads it. */
export const surfacesVariable = z.string().transform((text, context) => {
  const parsed = parseSurfaces(text);
  if ("listeners" in parsed) return parsed.listeners;
  context.addIssue({ code: "custom", message: parsed.fault });
  return z.NEVER;
});

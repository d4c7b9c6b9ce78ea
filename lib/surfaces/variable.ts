import { z } from "zod";
import { parseSurfaces } from "./parse";

/** `SURFACES`, as `parseSurfaces` reads it. */
export const surfacesVariable = z.string().transform((text, context) => {
  const parsed = parseSurfaces(text);
  if ("listeners" in parsed) return parsed.listeners;
  context.addIssue({ code: "custom", message: parsed.fault });
  return z.NEVER;
});

/** What the other variables must be where `SURFACES` is set; each with its variable. */
export function surfacesFaults(given: Record<string, string>): string[] {
  const { SURFACES: text, COUNTERSIGN_URL: url, METRICS_TOKEN: token } = given;
  if (text === undefined) return [];
  const parsed = parseSurfaces(text);
  const listeners = "listeners" in parsed ? parsed.listeners : [];
  const isMixed = listeners.some(({ surfaces }) => surfaces.has("metrics") && surfaces.has("pages"));
  return [
    ...(url === undefined ? ["COUNTERSIGN_URL: is required when SURFACES is set"] : []),
    ...(isMixed && token === undefined ? ["METRICS_TOKEN: is required when SURFACES has metrics beside pages"] : []),
  ];
}

import type { Locale } from "../approvals/mint-request";

export const localeCookie = "countersign.locale";

/** The chosen language, else the first of the browser's that we speak (RFC 9110 section 12.5.4), else English. */
export function chooseLocale(chosen: string | undefined, acceptLanguage: string | null): Locale {
  if (chosen === "en" || chosen === "ja") return chosen;
  const wanted = (acceptLanguage ?? "")
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
      const quality = parameters.map((p) => /^\s*q=([\d.]+)\s*$/.exec(p)?.[1]).find((q) => q !== undefined);
      return { language: tag.split("-")[0] ?? "", quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter(({ language, quality }) => (language === "en" || language === "ja") && quality > 0)
    .sort((a, b) => b.quality - a.quality);
  return wanted[0]?.language === "ja" ? "ja" : "en";
}

import type { Localised } from "../records/claims";
import { inspectText } from "../text/inspect";
import type { Locale } from "./mint-request";

/** In `locale` where the text has it. */
export function inLocale(text: Localised, locale: Locale): string {
  return typeof text === "string" ? text : text[locale];
}

const templates = {
  en: (client: string, title: string, code: string | undefined) =>
    `${client} asks for your approval: “${title}”. Open the page to read what will happen and to decide.${code ? ` Your confirmation code is ${code}.` : ""}`,
  ja: (client: string, title: string, code: string | undefined) =>
    `${client} が承認を求めています：「${title}」。ページを開き、内容を確認して決めてください。${code ? `確認番号は ${code} です。` : ""}`,
} satisfies Record<Locale, unknown>;

/**
 * The text of the elicitation, from a fixed template: client name, title and match code. It holds no URL, so a title that looks
 * like it has one is replaced by the tool's name; nothing of the model's words is in it; at most 500 characters.
 */
export function elicitationMessage(parts: {
  clientName: string;
  title: string;
  tool: string;
  matchCode: string | undefined;
  locale: Locale;
}): string {
  const title = /:\/\/|www\./i.test(parts.title) ? parts.tool : visible(parts.title);
  return templates[parts.locale](
    visible(parts.clientName),
    [...title].length > 250 ? parts.tool : title,
    parts.matchCode,
  );
}

/** Hidden characters are written out, so that the chat shows what the page draws (I11). */
function visible(text: string): string {
  return inspectText(text, { multiline: false })
    .map((span) => (span.kind === "text" ? span.text : `[${span.codePoint}]`))
    .join("");
}

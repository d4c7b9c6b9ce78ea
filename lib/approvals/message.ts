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
 * The text of the elicitation, from a fixed template: client name, title and match code; nothing of the model's words; at most 500
 * characters. It holds no URL: a title or name that has anything like one, or that is too long once hidden characters are written out,
 * is replaced by the tool's name, or by a plain "The server".
 */
export function elicitationMessage(parts: {
  clientName: string;
  title: string;
  tool: string;
  matchCode: string | undefined;
  locale: Locale;
}): string {
  const client = fitting(parts.clientName, 100) ?? { en: "The server", ja: "サーバー" }[parts.locale];
  return templates[parts.locale](client, fitting(parts.title, 210) ?? parts.tool, parts.matchCode);
}

/** The text as the page draws it, where it is short and holds nothing that a chat app could make a link of. */
function fitting(text: string, maxCharacters: number): string | undefined {
  const shown = visible(text);
  const hasLink = /[a-z][a-z0-9+.-]*:\S|[^\s.]\.[^\s.\d]{2,}/i.test(text.normalize("NFKC"));
  return hasLink || [...shown].length > maxCharacters ? undefined : shown;
}

/** Hidden characters are written out, so that the chat shows what the page draws (I11). */
function visible(text: string): string {
  return inspectText(text, { multiline: false })
    .map((span) => (span.kind === "text" ? span.text : `[${span.codePoint}]`))
    .join("");
}

import { sentencesEn, wordsEn } from "./texts-en";
import { sentencesJa, wordsJa } from "./texts-ja";

/**
 * Every way in which a guarded call ends without running the tool. The endings are never merged: an agent does something else
 * after each.
 */
export type Ending = keyof typeof sentencesEn;
export type Locale = "en" | "ja";

/** What a text may tell beside its fixed words. */
export type EndingFacts = {
  tool: string;
  approvalId?: string | undefined;
  /** The person's own words. */
  note?: string | undefined;
  retryAfterSeconds?: number | undefined;
  /** JSON pointer into the request that was refused. */
  pointer?: string | undefined;
  /** Fixed words of the kit or the service. */
  detail?: string | undefined;
  /** When it ran, where it did. */
  ranAt?: string | undefined;
  inbox?: { name: string; link?: string; matchCode?: string } | undefined;
  /** The approval is known to be for this very call, and not only named by it. */
  isOwn?: boolean | undefined;
  /** The author's own words for this ending. */
  more?: string | undefined;
};

export type Words = typeof wordsEn;

const sentences = { en: sentencesEn, ja: sentencesJa };
const words: Readonly<Record<Locale, Words>> = { en: wordsEn, ja: wordsJa };

/** Tells whether the tool ran in an ending; then its text must not say that it did not. */
export function hasRun(ending: Ending): boolean {
  return ending.startsWith("already_run_");
}

/** Whether the result is an error for programs: whatever did not run is one, and so is what ran and did not succeed. */
export function isErrorAfter(ending: Ending): boolean {
  return ending !== "already_run_succeeded";
}

/** The text for the agent: first whether the tool ran, then why, then what to do, then the details. */
export function endingText(ending: Ending, facts: EndingFacts, locale: Locale = "en"): string {
  const say = words[locale];
  const { tool, note, more, detail, pointer, ranAt, inbox, retryAfterSeconds, approvalId } = facts;
  const parts = [`${hasRun(ending) ? say.notRunAgain(tool) : say.didNotRun(tool)} ${sentences[locale][ending]}`];
  if (ranAt) parts.push(say.ranAt(quotable(ranAt)));
  if (inbox) parts.push(say.inbox(quotable(inbox.name)));
  if (inbox?.link) parts.push(say.link(inbox.link));
  if (inbox?.matchCode) parts.push(say.code(quotable(inbox.matchCode)));
  if (note) parts.push(noteText(note, locale));
  if (more) parts.push(say.more(quotable(more)));
  if (detail) parts.push(say.detail(quotable(detail)));
  if (pointer !== undefined) parts.push(say.where(quotable(pointer) || "/"));
  if (retryAfterSeconds !== undefined) parts.push(say.notBefore(retryAfterSeconds));
  if (approvalId) parts.push(say.reference(approvalId));
  return parts.join("\n");
}

/** Text for the agent when the tool itself failed after it had started. */
export function failureText(message: string, about: { tool: string; reference: string; locale: Locale }): string {
  const say = words[about.locale];
  return [say.failed(about.tool, quotable(message)), say.reference(about.reference)].join("\n");
}

/** The person's own words, marked as such. */
export function noteText(note: string, locale: Locale): string {
  return words[locale].note(quotable(note));
}

export const waitingText = (locale: Locale) => words[locale].waiting;
export const repeatedText = (locale: Locale) => words[locale].repeated;
export const attestedText = (locale: Locale) => words[locale].attested;

/** The words of a form that asks before a write. */
export function formWords(locale: Locale): { title: string; run: string; doNotRun: string } {
  const { formTitle, formRun, formDoNotRun } = words[locale];
  return { title: formTitle, run: formRun, doNotRun: formDoNotRun };
}

/** The words around what others wrote; `mark` is random, so that what is inside cannot close them. */
export function untrustedWords({ source, mark, locale }: { source: string; mark: string; locale: Locale }) {
  const say = words[locale];
  return { open: say.untrustedOpen(source, mark), close: say.untrustedClose(mark), cut: say.untrustedCut };
}

const MAX_QUOTED_LENGTH = 500;

/** One line without control, format or unassigned characters, so that a quotation cannot pass for the text around it. */
function quotable(text: string): string {
  const visible = text.replace(/\s+/gu, " ").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}“”「」]/gu, "");
  return Array.from(visible.replace(/ {2,}/g, " ").trim()).slice(0, MAX_QUOTED_LENGTH).join("");
}

import type { Locale } from "./mint-request";

/** What the person pressed. `not_requested` declines and freezes; it asks once more first. */
export type Choice = "accept" | "decline" | "cancel" | "not_requested";

/** The fields of the decision form, as sent. */
export type DecisionForm = {
  choice: Choice | undefined;
  csrf: string;
  stamp: string;
  locale: Locale;
  renderedAt: number;
  code: string;
  hasRead: boolean;
  note: string;
  /** What the browser made of the passkey's answer (JSON), or empty. */
  passkeyAnswer: string;
};

/** Parses the form; whatever is not of its shape becomes a value that no check accepts. */
export function parseDecisionForm(form: URLSearchParams): DecisionForm {
  const one = (name: string) => (form.getAll(name).length === 1 ? (form.get(name) ?? "") : "");
  const renderedAt = one("renderedAt");
  return {
    choice: choices.find((choice) => choice === one("decision")),
    csrf: one("csrf"),
    stamp: one("stamp"),
    locale: one("locale") === "ja" ? "ja" : "en",
    renderedAt: /^\d{1,15}$/.test(renderedAt) ? Number(renderedAt) : 0,
    code: one("code").normalize("NFKC").trim(),
    hasRead: one("read") === "yes",
    // Browsers send line breaks of a text area as CR LF.
    note: one("note").replaceAll("\r\n", "\n").trim(),
    passkeyAnswer: one("passkey"),
  };
}

const choices: Choice[] = ["accept", "decline", "cancel", "not_requested"];
export const noteMaxCharacters = 500;

export type HtmlForm = {
  action: string;
  fields: Record<string, string>;
  buttons: { text: string; name: string; value: string; action: string | undefined }[];
};

/** The forms of a page of ours, as a browser without JavaScript would send them. */
export function readForms(html: string): HtmlForm[] {
  return [...html.matchAll(/<form\b([^>]*)>(.*?)<\/form>/gs)].map(([, attributes = "", inner = ""]) => ({
    action: attributeOf(attributes, "action") ?? "",
    fields: Object.fromEntries(
      [...inner.matchAll(/<(?:input|textarea)\b([^>]*)>/g)]
        .map(
          ([, of = ""]) => [attributeOf(of, "name"), attributeOf(of, "value") ?? "", attributeOf(of, "type")] as const,
        )
        .filter(([name, , type]) => name !== undefined && type !== "checkbox")
        .map(([name, value]) => [name, value]),
    ),
    buttons: [...inner.matchAll(/<button\b([^>]*)>(.*?)<\/button>/gs)].map(([, of = "", text = ""]) => ({
      text: readText(text),
      name: attributeOf(of, "name") ?? "",
      value: attributeOf(of, "value") ?? "",
      action: attributeOf(of, "formaction"),
    })),
  }));
}

/** What a page says, without its markup and scripts. */
export function readText(html: string): string {
  return decode(
    html
      .replaceAll(/<(script|style|head)\b.*?<\/\1>/gs, " ")
      .replaceAll(/<!--.*?-->/gs, "")
      .replaceAll(/<[^>]*>/g, " "),
  )
    .replaceAll(/\s+/g, " ")
    .trim();
}

function attributeOf(attributes: string, name: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${name}="([^"]*)"`, "i").exec(attributes)?.[1];
  return value === undefined ? undefined : decode(value);
}

function decode(text: string): string {
  return text
    .replaceAll(/&#x([0-9a-f]+);/gi, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
    .replaceAll("&quot;", '"')
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
}

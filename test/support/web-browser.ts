import { cookiesFor, type Jar, keepCookies } from "./cookie-jar";
import { type HtmlForm, readForms, readText } from "./html-form";

export type WebPage = { url: string; status: number; headers: Headers; html: string; text: string; forms: HtmlForm[] };
type Options = {
  /** Stops before a redirect to such an address: the page is then that redirect, and `url` where it would lead. */
  until?: RegExp;
  headers?: Record<string, string>;
};

/**
 * A browser without JavaScript: cookies by host, path and age, forms, redirects, and the Fetch Metadata of a navigation. Each has its own
 * cookies; `clone` is a thief's copy.
 */
export class WebBrowser {
  readonly jar: Jar;
  constructor(jar: Jar = []) {
    this.jar = jar;
  }

  clone(): WebBrowser {
    return new WebBrowser(this.jar.map((cookie) => ({ ...cookie })));
  }

  cookie(name: string): string | undefined {
    return this.jar.find((cookie) => cookie.name === name)?.value;
  }

  /** Puts a cookie as whoever controls this browser's network or a sibling could. */
  plant(url: string, name: string, value: string): void {
    const host = new URL(url).hostname;
    this.drop(name);
    this.jar.push({ host, path: "/", name, value, expiresAt: undefined });
  }

  drop(name: string): void {
    for (let i = this.jar.length - 1; i >= 0; i -= 1) if (this.jar[i]?.name === name) this.jar.splice(i, 1);
  }

  open(url: string, options: Options = {}): Promise<WebPage> {
    return this.#navigate("GET", url, undefined, { "sec-fetch-site": "none", ...options.headers }, options.until);
  }

  /** Presses the button with this text, with what its form holds and `fields` typed into it. */
  submit(page: WebPage, button: string | RegExp, fields: Record<string, string> = {}, options: Options = {}) {
    for (const form of page.forms) {
      const pressed = form.buttons.find(({ text }) =>
        typeof button === "string" ? text === button : button.test(text),
      );
      if (!pressed) continue;
      const body = { ...form.fields, ...(pressed.name ? { [pressed.name]: pressed.value } : {}), ...fields };
      const target = new URL(pressed.action ?? form.action, page.url).href;
      return this.post(target, body, options);
    }
    throw new Error(`no button "${button}" on ${page.url} (${page.status}): ${page.text.slice(0, 400)}`);
  }

  post(url: string, fields: Record<string, string>, options: Options = {}): Promise<WebPage> {
    const headers = { "sec-fetch-site": "same-origin", origin: new URL(url).origin, ...options.headers };
    return this.#navigate("POST", url, new URLSearchParams(fields), headers, options.until);
  }

  /** One request without following anything. */
  async send(method: string, url: string, headers: Record<string, string> = {}, body?: URLSearchParams) {
    const cookie = cookiesFor(this.jar, url);
    const response = await fetch(url, {
      method,
      redirect: "manual",
      headers: { "accept-language": "en", accept: "text/html", ...(cookie ? { cookie } : {}), ...headers },
      ...(body ? { body } : {}),
    });
    keepCookies(this.jar, url, response.headers.getSetCookie());
    return response;
  }

  async #navigate(
    method: string,
    start: string,
    body: URLSearchParams | undefined,
    headers: Record<string, string>,
    until: RegExp | undefined,
  ): Promise<WebPage> {
    let url = start;
    let response = await this.send(method, url, headers, body);
    for (let hops = 0; response.status >= 300 && response.status < 400; hops += 1) {
      if (hops > 20) throw new Error(`too many redirects, at ${url}`);
      const next = new URL(response.headers.get("location") ?? "", url).href;
      if (until?.test(next)) return toPage(next, response, "");
      const site = new URL(next).origin === new URL(url).origin ? (headers["sec-fetch-site"] ?? "none") : "cross-site";
      url = next;
      await response.body?.cancel();
      response = await this.send("GET", url, { "sec-fetch-site": site });
    }
    return toPage(url, response, await response.text());
  }
}

function toPage(url: string, response: Response, html: string): WebPage {
  const { status, headers } = response;
  return { url, status, headers, html, text: readText(html), forms: readForms(html) };
}

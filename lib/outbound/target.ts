import { OutboundError } from "./error";

/** Where a call goes. `host` is without brackets and without a trailing dot. */
export type Target = { protocol: "http:" | "https:"; host: string; port: number };

/** The target of a URL as the WHATWG parser reads it, numeric hosts included. Throws `OutboundError` `url_refused`. */
export function targetOf(text: string): Target {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) throw refused("The URL must be whole, such as https://hooks.example.com/countersign.");
  if (url.protocol !== "https:" && url.protocol !== "http:") throw refused("The URL must begin with https://.");
  if (url.username || url.password) throw refused("The URL must hold no user name and no password.");
  return {
    protocol: url.protocol,
    host: plainHost(url.hostname),
    port: url.port === "" ? defaultPorts[url.protocol] : Number(url.port),
  };
}

export const defaultPorts = { "http:": 80, "https:": 443 } as const;

/** `example.com.` is the same host as `example.com`, and must be the same to every list. */
export function plainHost(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.$/, "");
}

const refused = (message: string) => new OutboundError("url_refused", { message });

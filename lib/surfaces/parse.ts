import { isIPv6 } from "node:net";

/** What can be put on a listener of its own (decision 0023). */
export const surfaces = ["pages", "api", "admin", "audit", "metrics"] as const;
export type Surface = (typeof surfaces)[number];

/** An address that the process listens on, and what it answers there. */
export type Listener = {
  host: string;
  port: number;
  surfaces: ReadonlySet<Surface>;
};

/**
 * The listeners of `SURFACES`: `pages=0.0.0.0:3000; api,admin,audit,metrics=10.0.0.5:3001`, IPv6 in brackets. A surface may be on
 * several listeners, or on none of this process. Else a fault: a sentence without the variable's name.
 */
export function parseSurfaces(text: string): { listeners: Listener[] } | { fault: string } {
  const listeners: Listener[] = [];
  for (const entry of text.split(";").map((part) => part.trim())) {
    if (entry === "") continue;
    const listener = parseListener(entry);
    if ("fault" in listener) return listener;
    if (listeners.some(({ host, port }) => host === listener.host && port === listener.port))
      return { fault: `names the address of "${entry}" twice` };
    listeners.push(listener);
  }
  return listeners.length > 0 ? { listeners } : { fault: "names no listener" };
}

/** What answers where `SURFACES` is unset: everything, metrics only where they ask for a token. */
export function wholeListener(host: string, port: number, hasMetricsToken: boolean): Listener {
  return { host, port, surfaces: new Set(surfaces.filter((name) => name !== "metrics" || hasMetricsToken)) };
}

function parseListener(entry: string): Listener | { fault: string } {
  const [names, address, ...rest] = entry.split("=").map((part) => part.trim());
  if (!names || !address || rest.length > 0)
    return { fault: `"${entry}" must look like pages=0.0.0.0:3000 or api,admin,audit,metrics=10.0.0.5:3001` };
  const named = names.split(",").map((name) => name.trim());
  const unknown = named.find((name) => !isSurface(name));
  if (unknown !== undefined) return { fault: `"${unknown}" is none of ${surfaces.join(", ")}` };
  const place = parseAddress(address);
  return place
    ? { ...place, surfaces: new Set(named.filter(isSurface)) }
    : { fault: `"${address}" must be an address and a port, such as 10.0.0.5:3001 or [::1]:3001` };
}

const isSurface = (name: string): name is Surface => surfaces.some((surface) => surface === name);

function parseAddress(address: string): { host: string; port: number } | undefined {
  const [, bracketed, plain, digits = ""] = /^(?:\[([^\]]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})$/.exec(address) ?? [];
  const port = Number(digits);
  if (port < 1 || port > 65_535 || (bracketed !== undefined && !isIPv6(bracketed))) return undefined;
  const host = bracketed ?? plain;
  return host === undefined ? undefined : { host, port };
}

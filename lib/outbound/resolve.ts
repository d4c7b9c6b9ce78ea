import { lookup } from "node:dns/promises";

export type ResolvedAddress = { address: string; family: number };

/** All addresses of a host name, in the order in which they are to be tried. Rejects where there are none. */
export type Resolve = (host: string) => Promise<ResolvedAddress[]>;

/** As this machine resolves names: its hosts file and its name servers. An address in any spelling resolves to itself. */
export const resolveHost: Resolve = (host) => lookup(host, { all: true, verbatim: true });

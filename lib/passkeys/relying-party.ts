import type { Config } from "../config";

/** Who asks for passkeys, as authenticators know it (WebAuthn level 3, section 5.4.2). */
export type RelyingParty = {
  /** The public URL's host: a passkey made for it works at no other. */
  rpId: string;
  /** The one origin whose answers count. */
  origin: string;
  name: string;
};

export function relyingParty(config: Pick<Config, "url" | "name">): RelyingParty {
  return { rpId: new URL(config.url).hostname, origin: config.url, name: config.name };
}

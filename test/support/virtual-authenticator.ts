import type { Page } from "playwright-core";

/** A device with a screen lock, as the browser of a page sees it. */
export type VirtualAuthenticator = {
  /** The passkeys that it holds. */
  passkeys(): Promise<{ credentialId: string; rpId?: string; isResidentCredential: boolean; signCount: number }[]>;
  /** Whether its person passes the screen lock; they do where nothing else was said. */
  setUserVerified(isUserVerified: boolean): Promise<void>;
  /** Takes it away, with all that it holds. */
  remove(): Promise<void>;
};

/** Gives the page a device that makes and keeps passkeys, and answers by itself. Chromium only; it lasts as long as the page. */
export async function addVirtualAuthenticator(page: Page): Promise<VirtualAuthenticator> {
  const session = await page.context().newCDPSession(page);
  await session.send("WebAuthn.enable");
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    passkeys: async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials,
    setUserVerified: async (isUserVerified) => {
      await session.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified });
    },
    remove: async () => {
      await session.send("WebAuthn.removeVirtualAuthenticator", { authenticatorId });
    },
  };
}

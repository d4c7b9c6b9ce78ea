import { pino } from "pino";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { type SessionClaims, sessionCookieName } from "@/lib/sessions/session";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { launchBrowser, openPhone, seriousFaults, signInOnPage } from "@/test/support/browser";
import { createDatabase } from "@/test/support/database";
import { registeredBy, steppedUp } from "@/test/support/registering";
import { startServer } from "@/test/support/server";
import { addVirtualAuthenticator, type VirtualAuthenticator } from "@/test/support/virtual-authenticator";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let complaints: string[];
let device: VirtualAuthenticator;

beforeAll(async () => {
  server = await startServer({ databaseUrl: await createDatabase() });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  browser = await launchBrowser();
});
afterEach(() => context?.close());
afterAll(async () => {
  await browser?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

async function open(options: Parameters<typeof openPhone>[1] = {}): Promise<void> {
  ({ context, page, complaints } = await openPhone(browser, { baseURL: server.url, ...options }));
  if (options.javaScriptEnabled !== false) device = await addVirtualAuthenticator(page);
}

/** A browser in which this person signed in this many seconds ago. */
async function signedInSince(person: Person, seconds: number, claims: Partial<SessionClaims> = {}): Promise<void> {
  const { cookie } = await signIn(service, person, { authTime: Math.floor(Date.now() / 1000) - seconds, ...claims });
  const value = cookie.slice(cookie.indexOf("=") + 1);
  await context.addCookies([{ name: sessionCookieName(server.url), value, url: server.url }]);
}

async function register(name: string): Promise<void> {
  await page.goto("/account");
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText(name, { exact: true }).waitFor();
}

const passkeys = () => page.locator("#passkeys");

/** Who has a passkey adds and removes one only after a step-up with it. */
async function proveWithPasskey(): Promise<void> {
  await passkeys().getByRole("link", { name: "Sign in again" }).click();
  await page.getByRole("button", { name: "Use a passkey" }).click();
  await page.waitForURL("**/account");
}

describe("a passkey", () => {
  it("is registered, signs in, is renamed and removed", async () => {
    const ada = await addPerson(service);
    await open();
    await page.goto("/account");
    await signInOnPage(page, ada.email);
    await page.waitForURL("**/account");
    await register("Work phone");
    expect(await device.passkeys()).toMatchObject([{ rpId: "localhost", isResidentCredential: true }]);
    expect(await passkeys().textContent()).toContain("not used yet");

    await context.clearCookies();
    await page.goto("/signin?callbackUrl=/account");
    await page.getByRole("button", { name: "Continue with a passkey" }).click();
    await page.waitForURL("**/account");
    expect(await passkeys().textContent()).toContain("last used");

    await page.getByText("Rename", { exact: true }).click();
    await page.getByLabel("New name").fill("Old phone");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Old phone", { exact: true }).waitFor();

    await proveWithPasskey();
    await page.getByText("Remove", { exact: true }).click();
    await page.getByText("This is your only passkey", { exact: false }).waitFor();
    await page.getByRole("button", { name: "Remove this passkey" }).click();
    await page.getByText("Old phone", { exact: true }).waitFor({ state: "detached" });

    await context.clearCookies();
    await page.goto("/signin?callbackUrl=/account");
    await page.getByRole("button", { name: "Continue with a passkey" }).click();
    await page.getByText("No passkey signed you in", { exact: false }).waitFor();
    expect(page.url()).toContain("/signin?");
    expect(complaints).toEqual([]);
  });

  it("is made by nobody who does not pass the screen lock, and only once on a device", async () => {
    const ada = await addPerson(service);
    await open();
    await signedInSince(ada, 0);
    await device.setUserVerified(false);
    await page.goto("/account");
    await page.getByLabel("Name", { exact: true }).fill("Phone");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Your device made no passkey.", { exact: false }).waitFor();
    expect(await device.passkeys()).toEqual([]);
    await device.setUserVerified(true);
    await register("Phone");
    await proveWithPasskey();
    await page.getByLabel("Name", { exact: true }).fill("Phone again");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("This device already has a passkey for this account.").waitFor();
    expect(await device.passkeys()).toHaveLength(1);
  });

  it("proves the person anew, for the account and for an approval that demands it", async () => {
    const ada = await addPerson(service);
    await open();
    await signedInSince(ada, 0);
    await register("Phone");
    await signedInSince(ada, 3600);
    await page.goto("/account");
    expect(await page.getByText("Remove", { exact: true }).count()).toBe(0);
    await passkeys().getByRole("link", { name: "Sign in again" }).click();
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL("**/account");
    await page.getByText("Remove", { exact: true }).waitFor();

    const client = await addTestClient(service);
    const requirements = { maxAuthAgeSeconds: 0, matchCode: false };
    const { id } = await mintApproval(client, ada, { requirements });
    await page.goto(`/a/${id}/sign-in-again`);
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.waitForURL(`**/a/${id}`);
    await page.getByRole("button", { name: "Approve" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("of somebody else proves nothing", async () => {
    const [ada, eve] = [await addPerson(service), await addPerson(service, "Eve")];
    await open();
    await signedInSince(eve, 0);
    await register("Eve's phone");
    await registeredBy(service, (await signIn(service, ada)).session);
    await signedInSince(ada, 3600);
    await page.goto("/account/sign-in-again?to=%2Faccount");
    await page.getByRole("button", { name: "Use a passkey" }).click();
    await page.getByText("No passkey of this account answered.", { exact: false }).waitFor();
    expect(page.url()).toContain("/account/sign-in-again");
  });
});

describe("the account page", () => {
  it("works without scripts but for what a passkey needs, and says so", async () => {
    const ada = await addPerson(service);
    const { session } = await signIn(service, ada);
    await registeredBy(service, session);
    await open({ javaScriptEnabled: false });
    await signedInSince(ada, 0, steppedUp);
    await page.goto("/account");
    await page.getByText(ada.sub, { exact: true }).waitFor();
    expect(await passkeys().locator("noscript").textContent()).toContain("Your browser runs no scripts here");
    expect(await page.getByRole("button", { name: "Add a passkey" }).isDisabled()).toBe(true);
    await page.getByText("Rename", { exact: true }).click();
    await page.getByLabel("New name").fill("Laptop");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Laptop", { exact: true }).waitFor();
    await page.getByText("Remove", { exact: true }).click();
    await page.getByRole("button", { name: "Remove this passkey" }).click();
    await page.getByText("Laptop", { exact: true }).waitFor({ state: "detached" });
  });

  it("has no serious fault for people who do not see it, in either language and colour", async () => {
    const ada = await addPerson(service);
    await registeredBy(service, (await signIn(service, ada)).session);
    for (const locale of ["en-GB", "ja-JP"])
      for (const colorScheme of ["light", "dark"] as const)
        for (const seconds of [0, 3600]) {
          await open({ locale, colorScheme });
          await signedInSince(ada, seconds, steppedUp);
          await page.goto("/account");
          for (const summary of await page.locator("summary").all()) await summary.click();
          expect(await seriousFaults(page)).toEqual([]);
          expect(complaints).toEqual([]);
          await context.close();
        }
  });
});

import AxeBuilder from "axe-core";
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { chromiumArgs, ensureChromium } from "@/scripts/chromium";
import { password } from "./actors";

export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: ensureChromium(), args: chromiumArgs() });
}

/** A phone of a person, with every complaint of the browser: a script that the CSP blocks, a failed load, an error in a script. */
export async function openPhone(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; page: Page; complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, locale: "en-GB", ...options });
  const complaints: string[] = [];
  const page = await context.newPage();
  page.on("console", (message) => {
    // A miss is a 404, which Chromium reports as a failed load; that is what the page is meant to be.
    if ((message.type() === "error" || message.type() === "warning") && !/status of 404/.test(message.text()))
      complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(error.message));
  return { context, page, complaints };
}

/** Fills in the sign-in form that the browser was sent to. */
export async function signInOnPage(page: Page, email: string, typed: string = password): Promise<void> {
  await page.getByLabel("Email").fill(email);
  await page.getByLabel("Password").fill(typed);
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
}

/** What axe-core finds serious or critical on the page as it is. */
export async function seriousFaults(page: Page): Promise<string[]> {
  await page.evaluate(AxeBuilder.source);
  const violations = await page.evaluate(async () => {
    const { axe } = window as unknown as {
      axe: { run(): Promise<{ violations: { id: string; impact?: string; nodes: { html: string }[] }[] }> };
    };
    return (await axe.run()).violations.map(({ id, impact, nodes }) => ({ id, impact, html: nodes[0]?.html }));
  });
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(({ id, html }) => `${id}: ${html}`);
}

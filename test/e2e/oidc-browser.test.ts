import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { addPerson } from "@/test/support/actors";
import { launchBrowser, openPhone, seriousFaults, signInOnPage } from "@/test/support/browser";
import { ask, statusOf } from "@/test/support/oidc-acts";
import { type Stage, setStage } from "@/test/support/oidc-stage";

let stage: Stage;
let browser: Browser;

beforeAll(async () => {
  stage = await setStage();
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await stage?.stop();
});

async function logIn(page: Page, login: string): Promise<void> {
  await page.getByLabel("User").fill(login);
  await page.getByRole("button", { name: "Log in" }).click();
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

describe("in Chromium", () => {
  it.each([true, false])(
    "with JavaScript %s: signs in at the provider, steps up there, and approves, and no form is stopped by the CSP",
    async (javaScriptEnabled) => {
      const { context, page, complaints } = await openPhone(browser, { javaScriptEnabled });
      const { id, url } = await ask(stage, { iss: stage.acme, sub: "ada" }, { maxAuthAgeSeconds: 0 });
      await page.goto(url);
      await button(page, "Continue with Acme").click();
      await logIn(page, "ada");
      await page.getByRole("heading", { name: "Please sign in again" }).waitFor();
      expect(page.url()).toBe(`${url}/sign-in-again`);
      await button(page, "Sign in again with Acme").click();
      await logIn(page, "ada");
      await page.getByRole("heading", { name: /Delete project/ }).waitFor();
      await page.getByLabel("I have read what will happen").check();
      await page.waitForTimeout(1_100); // nobody reads faster, and the service refuses who does
      await button(page, "Approve").click();
      await page.getByText("You approved this").first().waitFor();
      expect([await statusOf(stage, id), complaints]).toEqual(["accepted", []]);
      await context.close();
    },
  );

  it("shows another account at the provider as refused, and the page of each step is accessible on a phone", async () => {
    const { context, page, complaints } = await openPhone(browser);
    const faults: string[] = [];
    const look = async (name: string) =>
      faults.push(...(await seriousFaults(page)).map((fault) => `${name}: ${fault}`));
    const { url } = await ask(stage, { iss: stage.acme, sub: "eve" }, { maxAuthAgeSeconds: 0 });
    await page.goto(url);
    await look("signin");
    await button(page, "Continue with Acme").click();
    await logIn(page, "eve");
    await look("step-up");
    await button(page, "Sign in again with Acme").click();
    await logIn(page, "ada");
    await page.getByRole("alert").filter({ hasText: "Somebody else signed in" }).waitFor();
    await look("refused");
    for (const width of [1280, 390, 320]) {
      await page.setViewportSize({ width, height: 844 });
      if (await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth))
        faults.push(`scrolls sideways at ${width} px`);
    }
    expect([faults, complaints]).toEqual([[], []]);
    await context.close();
  });

  it("links an account from the account page, and the inbox says which one to sign in with", async () => {
    const ada = await addPerson(stage.service, "Ada");
    const { context, page, complaints } = await openPhone(browser, { colorScheme: "dark" });
    await page.goto(`${stage.url}/account`);
    await signInOnPage(page, ada.email);
    await button(page, "Link an account of Acme").click();
    await logIn(page, "person-9");
    await page.getByText("The account is linked.").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await ask(stage, { iss: stage.acme, sub: "person-9" });
    await page.goto(`${stage.url}/inbox`);
    await page.getByText("For your account of Acme").waitFor();
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByRole("link", { name: "Sign in with it" }).click();
    await button(page, "Continue with Acme").click();
    await page.getByRole("heading", { name: /Delete project/ }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });
});

import { chromium } from "playwright-core";
import { chromiumArgs, ensureChromium } from "../chromium";
import type { Prompt } from "./round";
import type { Stage } from "./stage";

/** Does in a real browser what the person would: opens the link, signs in, types the code from the chat, presses the button. */
export async function playPerson(stage: Stage, prompt: Prompt, button: "Approve" | "Decline"): Promise<void> {
  const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumArgs() });
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 }, locale: "en-GB" });
    await page.goto(prompt.url);
    await page.getByLabel("Email").fill(stage.person.email);
    await page.getByLabel("Password").fill(stage.person.password);
    await page.getByRole("button", { name: "Sign in" }).click();
    if (button === "Approve")
      await page.getByLabel("Confirmation code").fill(/code is (\d\d)/.exec(prompt.message)?.[1] ?? "");
    await page.waitForTimeout(1_200); // an accept that comes faster than anybody reads is refused
    await page.getByRole("button", { name: button, exact: true }).click();
    await page.getByLabel("How it ended").waitFor();
  } finally {
    await browser.close();
  }
}

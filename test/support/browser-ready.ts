import { buildIfNeeded } from "@/scripts/build";
import { ensureChromium } from "@/scripts/chromium";

/** A browser and a production build, before the first end-to-end test. */
export default async function makeReady(): Promise<void> {
  ensureChromium();
  await buildIfNeeded();
}

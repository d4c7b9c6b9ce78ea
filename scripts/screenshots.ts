/**
 * Takes pictures of every page, at 390 and 1280 px, light and dark, in English and Japanese, into test-output/screenshots.
 * Starts what it needs: an embedded database, the built server, a browser. `npm run screenshots -- [part of a name …]`
 */
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { chromium } from "playwright-core";
import { removeEmbedded } from "@/lib/embedded/remove";
import { startEmbedded } from "@/lib/embedded/start";
import { startService } from "@/lib/service/start";
import { seedPages } from "@/test/support/page-states";

import { buildIfNeeded } from "./build";
import { chromiumArgs, ensureChromium } from "./chromium";
import { startServerProcess } from "./server-process";

const wanted = process.argv.slice(2);
const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 900 } };
const outDir = "test-output/screenshots";

await buildIfNeeded();
const dataDir = await mkdtemp(path.join(tmpdir(), "countersign-pages-"));
const database = await startEmbedded({ dataDir, log: { info: () => {}, warn: () => {} } });
const env = {
  DATABASE_URL: database.url,
  COUNTERSIGN_SECRET: randomBytes(32).toString("hex"),
  COUNTERSIGN_NAME: "Example Corp",
};
const server = await startServerProcess({ env, logFile: `${outDir}/server.log` });
const { service, stop } = await startService({ ...server.config, logLevel: "warn" });
const browser = await chromium.launch({ executablePath: ensureChromium(), args: chromiumArgs() });
try {
  const pages = await seedPages(service);
  const shown = pages.filter((page) => wanted.length === 0 || wanted.some((part) => page.name.includes(part)));
  for (const colorScheme of ["light", "dark"] as const)
    for (const locale of ["en", "ja"] as const)
      for (const [size, viewport] of Object.entries(sizes)) {
        const context = await browser.newContext({
          viewport,
          colorScheme,
          locale,
          baseURL: server.url,
          javaScriptEnabled: false,
        });
        for (const { name, path: to, cookies } of shown) {
          await context.clearCookies();
          await context.addCookies(cookies.map((cookie) => ({ ...cookie, url: server.url })));
          const page = await context.newPage();
          await page.goto(to);
          await page.screenshot({ path: `${outDir}/${name}-${size}-${colorScheme}-${locale}.png`, fullPage: true });
          await page.close();
        }
        await context.close();
      }
  process.stdout.write(`${shown.length} pages in ${outDir}\n`);
} finally {
  await browser.close();
  await server.kill("SIGTERM");
  await stop();
  await database.stop();
  await removeEmbedded(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}

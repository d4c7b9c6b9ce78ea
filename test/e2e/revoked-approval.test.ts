import { pino } from "pino";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { revokeSigningKey } from "@/lib/keys/revoke";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintApproval, signIn } from "@/test/support/actors";
import { launchBrowser, openPhone, seriousFaults, signInOnPage } from "@/test/support/browser";
import { createDatabase } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { startServer } from "@/test/support/server";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let browser: Browser;

beforeAll(async () => {
  server = await startServer({ databaseUrl: await createDatabase() });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

it("says in words that an approval was signed with a key that was revoked, to its person alone, and shows nothing of it", async () => {
  const [ada, eve] = [await addPerson(service, "Ada"), await addPerson(service, "Eve")];
  const { id } = await mintApproval(await addTestClient(service), ada);
  await decideAs(service, (await signIn(service, ada)).session, id, "decline");
  const { kid } = service.keys.signer();
  await revokeSigningKey(service, { kid }, { kind: "admin", via: "cli" });
  const url = `${server.config.url}/a/${id}`;
  const languages = [
    {
      locale: "en-GB",
      label: "How it ended",
      words: /signed with a key that has been revoked since.*no longer proves/,
    },
    { locale: "ja-JP", label: "結果", words: /その後失効した鍵で署名されています。もう証明にならない/ },
  ];
  // The page is a GET: signed in once, in English, whose labels the form has.
  const { context, page, complaints } = await openPhone(browser);
  await page.goto(url);
  await signInOnPage(page, ada.email);
  await page.waitForURL(url);
  const cookies = await context.cookies();
  for (const { locale, label, words } of languages) {
    const phone = await openPhone(browser, { locale });
    await phone.context.addCookies(cookies);
    for (const path of ["", "/not-requested", "/sign-in-again"]) {
      const answer = await phone.page.goto(`${url}${path}`);
      expect(answer?.status()).toBe(200);
      const ending = phone.page.getByRole("region", { name: label });
      expect(await ending.textContent()).toMatch(words);
      expect(await phone.page.content()).not.toMatch(/Delete project Apollo|delete_project/);
      expect(await phone.page.locator("main form").count()).toBe(0);
    }
    expect(await seriousFaults(phone.page)).toEqual([]);
    expect(phone.complaints).toEqual([]);
    await phone.context.close();
  }
  expect(complaints).toEqual([]);

  const strangers = await openPhone(browser);
  await strangers.page.goto(url);
  await signInOnPage(strangers.page, eve.email);
  await strangers.page.waitForURL(url);
  const answer = await strangers.page.goto(url);
  expect(answer?.status()).toBe(404);
  expect(await strangers.page.getByRole("heading").textContent()).toContain("Nothing here for");
  await Promise.all([context.close(), strangers.context.close()]);
});

import { pino } from "pino";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import { authenticate } from "@/lib/users/authenticate";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, type Person } from "@/test/support/actors";
import { launchBrowser, openPhone, seriousFaults, signInOnPage } from "@/test/support/browser";
import { createDatabase } from "@/test/support/database";
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

const android =
  "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36";

async function signedIn(person: Person, options: Parameters<typeof openPhone>[1] = {}) {
  const phone = await openPhone(browser, options);
  await phone.page.goto(`${server.config.url}/account`);
  await signInOnPage(phone.page, person.email);
  await phone.page.waitForURL(`${server.config.url}/account`);
  return phone;
}

for (const javaScriptEnabled of [true, false])
  it(`a person signs out their lost phone, then everything else, ${javaScriptEnabled ? "with" : "without"} scripts`, async () => {
    const ada = await addPerson(service);
    const here = await signedIn(ada, { javaScriptEnabled });
    const lost = await signedIn(ada, { userAgent: android });
    const other = await signedIn(ada);
    const sids = await service.prisma.session.findMany({ where: { userId: ada.userId } });
    await here.page.reload();
    const section = here.page.getByRole("region", { name: "Where you are signed in" });
    expect(await section.getByRole("listitem").count()).toBe(3);
    expect(await section.getByText("this browser").count()).toBe(1);
    const html = await here.page.content();
    for (const { sid } of sids) expect(html).not.toContain(sid.slice(4));
    if (javaScriptEnabled) expect(await seriousFaults(here.page)).toEqual([]);

    const phone = section.getByRole("listitem").filter({ hasText: "Chrome on Android" });
    await phone.getByRole("button", { name: "Sign out there" }).click();
    await section.getByRole("listitem").nth(2).waitFor({ state: "detached" });
    await lost.page.reload();
    expect(new URL(lost.page.url()).pathname).toBe("/signin");

    await section.getByRole("button", { name: "Sign out everywhere else" }).click();
    await section.getByRole("listitem").nth(1).waitFor({ state: "detached" });
    await other.page.reload();
    expect(new URL(other.page.url()).pathname).toBe("/signin");
    expect(await here.page.getByRole("button", { name: "Sign out everywhere else" }).count()).toBe(0);
    expect([...here.complaints, ...lost.complaints, ...other.complaints]).toEqual([]);
    for (const { context } of [here, lost, other]) await context.close();
  });

it("a browser that has signed in is known: strangers who guess at the account, even at its address, do not keep it out", async () => {
  const ada = await addPerson(service);
  const { page, context } = await signedIn(ada);
  expect((await context.cookies()).find(({ name }) => name === "countersign.device")).toMatchObject({
    httpOnly: true,
    sameSite: "Lax",
    path: "/",
  });
  // The session goes; what stays is that the browser is known.
  await context.clearCookies({ name: "countersign.session" });
  const guess = (address: string) => authenticate(service, ada.email, "not the right password", { address });
  for (let i = 0; i < 12; i += 1) await guess(`203.0.113.${i}`);
  await guess("127.0.0.1");

  const stranger = await openPhone(browser);
  await stranger.page.goto(`${server.config.url}/signin`);
  await signInOnPage(stranger.page, ada.email);
  await stranger.page.getByText(/^Too many attempts\. Please wait \d+ seconds? and try again\.$/).waitFor();
  await page.goto(`${server.config.url}/inbox`);
  await signInOnPage(page, ada.email);
  await page.waitForURL(`${server.config.url}/inbox`);
  await stranger.context.close();
  await context.close();
});

import { pino } from "pino";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listPersonFreezes } from "@/lib/clients/list-freezes";
import { readClock } from "@/lib/database/clock";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import {
  addPerson,
  addTestClient,
  mintApproval,
  mintBody,
  type Person,
  password,
  signIn,
  type TestClient,
} from "@/test/support/actors";
import { launchBrowser, openPhone, signInOnPage } from "@/test/support/browser";
import { codeOf } from "@/test/support/codes";
import { createDatabase } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { startServer } from "@/test/support/server";

const iss = "https://login.example.com";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let browser: Browser;
let client: TestClient;
let admin: Person;
let ada: Person;

beforeAll(async () => {
  server = await startServer({ databaseUrl: await createDatabase() });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  client = await addTestClient(service, { issuers: [service.issuer, iss], maxMintsPerSubjectPerHour: 500 });
  admin = await addPerson(service, "Alan", ["admin"]);
  ada = await addPerson(service, "Ada");
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

type SignedIn = { cookie: string };

/** A browser without JavaScript in which this person is signed in already. */
async function open(signedIn: SignedIn | undefined, path: string) {
  const { context, page, complaints } = await openPhone(browser, { javaScriptEnabled: false });
  const [name = "", value = ""] = signedIn?.cookie.split("=") ?? [];
  if (signedIn) await context.addCookies([{ name, value, url: server.url }]);
  const response = await page.goto(`${server.url}${path}`);
  return { context, page, complaints, status: response?.status() };
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const mintCode = (person: { iss: string; sub: string }, tool: string) =>
  codeOf(client.api("POST", "/approvals", mintBody(person, { action: { tool, arguments: {} } })));
async function signedInBefore(person: Person, seconds: number) {
  const now = await readClock(service.pool);
  return signIn(service, person, { authTime: Math.floor(now.getTime() / 1000) - seconds });
}

describe("the admin pages", () => {
  it("are for admins alone: everybody else sees exactly what they see of a page that does not exist", async () => {
    const paths = ["/admin", "/admin/people", `/admin/clients/${client.clientId}`, `/admin/people/${ada.userId}`];
    const auditor = await addPerson(service, "Iris", ["auditor"]);
    for (const person of [ada, auditor]) {
      const signedIn = await signIn(service, person);
      const seen = await Promise.all(
        ["/nothing-of-the-kind", ...paths].map(async (path) => {
          const { context, page, status } = await open(signedIn, path);
          const shown = [
            status,
            await page.title(),
            await page.locator("header, main, footer").allTextContents(),
            await page.getByRole("link").count(),
          ];
          await context.close();
          return JSON.stringify(shown);
        }),
      );
      expect([new Set(seen).size, seen[0]]).toEqual([1, expect.stringContaining("404")]);
    }
    for (const path of paths) {
      const response = await fetch(`${server.url}${path}`, { redirect: "manual" });
      expect([response.status, response.headers.get("location")]).toEqual([
        303,
        `/signin?callbackUrl=${encodeURIComponent(path)}`,
      ]);
    }
    const admins = await signIn(service, admin);
    for (const path of ["/admin/clients/cli_none", "/admin/people/usr_none", "/admin/people/%00", "/admin/none"]) {
      const { status, context } = await open(admins, path);
      expect([path, status]).toEqual([path, 404]);
      await context.close();
    }
  });

  it("I7: reading them, also where a form leads, changes nothing", async () => {
    const { cookie } = await signIn(service, admin);
    const { session } = await signIn(service, ada);
    const { id } = await mintApproval(client, ada, { action: { tool: "reported", arguments: {} } });
    await decideAs(service, session, id, "not_requested");
    const [freeze] = await listPersonFreezes(service.pool, { clientId: client.clientId });
    const tables = ["freeze", "client", "user", "identity", "passkey", "approval", "audit_event"];
    const fingerprint = async () =>
      JSON.stringify(
        await Promise.all(
          tables.map(
            async (table) =>
              (await service.pool.query(`SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM "${table}" t`))
                .rows,
          ),
        ),
      );
    const before = await fingerprint();
    const clientPage = `/admin/clients/${client.clientId}`;
    const personPage = `/admin/people/${ada.userId}`;
    for (const path of [
      "/admin",
      "/admin/people?q=ada",
      clientPage,
      personPage,
      ...["freeze", "unfreeze", "acknowledge", "lift-freeze"].map((verb) => `${clientPage}/${verb}`),
      ...["link", "unlink", "end-sessions", "disable", "enable"].map((verb) => `${personPage}/${verb}`),
      `/account/freezes/${freeze?.freezeId}/lift`,
    ])
      for (const method of ["GET", "HEAD"])
        await fetch(`${server.url}${path}`, {
          method,
          headers: { cookie, "sec-fetch-site": "same-origin" },
          redirect: "manual",
        });
    expect(await fingerprint()).toBe(before);
    await service.pool.query(`UPDATE "freeze" SET "lifted_at" = clock_timestamp()`);
  });

  it("an admin whose sign-in is old reads, signs in again and is back, then freezes the client and lets it go; without JavaScript", async () => {
    const path = `/admin/clients/${client.clientId}`;
    const { context, page, complaints } = await open(await signedInBefore(admin, 600), "/admin");
    await page.getByRole("link", { name: /CRM server/ }).click();
    expect(await button(page, "Freeze for everybody").count()).toBe(0);
    await page.getByRole("link", { name: "Sign in again" }).click();
    await page.getByLabel("Password").fill(password);
    await button(page, "Sign in").click();
    expect(new URL(page.url()).pathname).toBe(path);
    await button(page, "Freeze for everybody").click();
    await page.getByRole("alert").getByText("It is frozen for everybody").waitFor();
    expect(await mintCode(ada, "while_frozen")).toEqual([403, "frozen"]);
    await button(page, "Let it ask again").click();
    await page.getByRole("alert").getByText("It may ask again.").waitFor();
    expect(await mintCode(ada, "after_it")).toEqual([201, "ok"]);
    expect(complaints).toEqual([]);
    await context.close();
  });

  it("an admin finds a person and links an identity to them, and they approve in its name; without JavaScript", async () => {
    const subject = { iss, sub: "auth0|5f7c8ec7c33c6c004bbafe82" };
    const { context, page } = await open(await signIn(service, admin), "/admin/people");
    await page.getByLabel("Name, address, user id or sub").fill(ada.email.slice(0, 8));
    await button(page, "Find").click();
    await page.getByRole("link", { name: new RegExp(ada.email) }).click();
    await page.getByLabel("Issuer (iss)").fill(subject.iss);
    await page.getByLabel("Subject (sub)").fill(subject.sub);
    await page.getByLabel(`I have verified that this identity belongs to Ada (${ada.userId}).`).check();
    await button(page, "Link").click();
    await page.getByRole("alert").getByText("Linked.").waitFor();
    const { id } = await mintApproval(client, subject);
    const adas = await open(await signIn(service, ada), `/a/${id}`);
    await adas.page.getByLabel("I have read what will happen").check();
    await adas.page.waitForTimeout(1_100); // A page is not accepted sooner than it can be read.
    await button(adas.page, "Approve").click();
    await adas.page.getByText("You approved this").waitFor();
    await button(page, "Unlink").click();
    await page.getByRole("alert").getByText("Unlinked.").waitFor();
    expect((await adas.page.goto(`${server.url}/a/${id}`))?.status()).toBe(404);
    await context.close();
    await adas.context.close();
  });
});

describe("I didn't ask for this", () => {
  it("asks once more, stops the client, and the person lifts it on their account page after a fresh sign-in; without JavaScript", async () => {
    const { id } = await mintApproval(client, ada, { action: { tool: "odd", arguments: {} } });
    const { context, page, complaints } = await open(undefined, `/a/${id}`);
    await signInOnPage(page, ada.email);
    await page.getByRole("link", { name: "I didn't ask for this" }).click();
    await page.getByRole("link", { name: "Back" }).click();
    expect(await mintCode(ada, "not_yet")).toEqual([201, "ok"]);
    await page.getByRole("link", { name: "I didn't ask for this" }).click();
    await button(page, "I didn't ask for this").click();
    await page.getByText("You didn't ask for this").waitFor();
    expect(await mintCode(ada, "stopped")).toEqual([403, "frozen"]);
    await page.getByRole("link", { name: "Change that on your account page" }).click();
    await context.addCookies([asCookie(await signedInBefore(ada, 600))]);
    await page.reload();
    await page.getByRole("link", { name: "Sign in again to let it ask" }).click();
    await page.getByLabel("Password").fill(password);
    await button(page, "Sign in").click();
    expect(page.url()).toBe(`${server.url}/account#freezes`);
    await button(page, "Let it ask me again").click();
    expect(await page.getByText("CRM server").count()).toBe(0);
    expect(await mintCode(ada, "lifted")).toEqual([201, "ok"]);
    await page.goto(`${server.url}/a/${id}`);
    expect(await page.getByText("Change that on your account page").count()).toBe(0);
    expect(complaints).toEqual([]);
    await context.close();
  });

  const asCookie = ({ cookie }: SignedIn) => {
    const [name = "", value = ""] = cookie.split("=");
    return { name, value, url: server.url };
  };

  it("three people who say so are an alert for the admins, until one has looked into it", async () => {
    for (const name of ["Ben", "Cleo", "Dora"]) {
      const person = await addPerson(service, name);
      const { session } = await signIn(service, person);
      const { id } = await mintApproval(client, person);
      await decideAs(service, session, id, "not_requested");
    }
    const { context, page } = await open(await signIn(service, admin), "/admin");
    const alert = page.getByText("people said that they did not ask for what CRM server asked them.");
    await alert.waitFor();
    await page.getByRole("link", { name: "Look at it" }).click();
    expect(await page.getByRole("listitem").filter({ hasText: "Said on" }).count()).toBe(3);
    await button(page, "I have looked into this").click();
    await page.getByRole("alert").getByText("Noted.").waitFor();
    await button(page, "Lift for this person").first().click();
    expect(await page.getByRole("listitem").filter({ hasText: "Said on" }).count()).toBe(2);
    await page.goto(`${server.url}/admin`);
    expect(await alert.count()).toBe(0);
    await context.close();
  });
});

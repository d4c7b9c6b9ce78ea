import { verifyReceipt } from "@countersign/mcp/receipt";
import { pino } from "pino";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { clockToleranceSeconds } from "@/lib/approvals/insert";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, mintApproval, mintBody, type Person, type TestClient } from "@/test/support/actors";
import { launchBrowser, openPhone, seriousFaults, signInOnPage } from "@/test/support/browser";
import { createDatabase } from "@/test/support/database";
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
let client: TestClient;

beforeAll(async () => {
  server = await startServer({ databaseUrl: await createDatabase() });
  ({ service, stop: stopService } = await startService(server.config, { log: pino({ level: "silent" }) }));
  client = await addTestClient(service, { perTool: [{ tool: "delete_project", passkey: "required" }] });
  browser = await launchBrowser();
});
afterEach(() => context?.close());
afterAll(async () => {
  await browser?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

/** A phone on which this person has registered a passkey, signed out, and signed in with it. */
async function openPhoneWithPasskey(person: Person): Promise<void> {
  ({ context, page, complaints } = await openPhone(browser, { baseURL: server.url }));
  device = await addVirtualAuthenticator(page);
  await page.goto("/account");
  await signInOnPage(page, person.email);
  await page.getByLabel("Name", { exact: true }).fill("Phone");
  await page.getByRole("button", { name: "Add a passkey" }).click();
  await page.getByText("Phone", { exact: true }).waitFor();
  await context.clearCookies();
  // What is asked for within the tolerance between clocks is not known to be later.
  await page.waitForTimeout((clockToleranceSeconds + 1) * 1_000);
}

async function signInWithPasskey(path: string): Promise<void> {
  await page.goto(path);
  await page.getByRole("button", { name: "Continue with a passkey" }).click();
  await page.waitForURL(`**${path}`);
}

const statusOf = async (id: string) => {
  const { rows } = await service.pool.query(`SELECT "status", "receipt" FROM "approval" WHERE "id" = $1`, [id]);
  return rows[0] as { status: string; receipt: string };
};
const approveButton = () => page.getByRole("button", { name: "Approve" });

describe("an approval that the policy of its tool wants signed by a passkey", () => {
  it("is opened, read and approved with the device alone; the receipt proves it and the tool may run", async () => {
    const ada = await addPerson(service);
    await openPhoneWithPasskey(ada);
    const body = mintBody(ada, { requirements: { matchCode: true } });
    const minted = await mintApproval(client, ada, { requirements: { matchCode: true } });
    await signInWithPasskey(`/a/${minted.id}`);
    expect(await seriousFaults(page)).toEqual([]);
    await page.getByLabel("Confirmation code").fill(minted.matchCode ?? "");
    await page.waitForTimeout(1_000);
    await approveButton().click();
    await page.getByText("You approved this").waitFor();
    const { receipt } = await statusOf(minted.id);
    const verdict = await verifyReceipt(receipt, {
      issuer: service.issuer,
      audience: client.clientId,
      keys: (kid) => service.keys.find(kid),
      passkey: "required",
    });
    expect(verdict).toMatchObject({ ok: true, claims: { decision: "accept", amr: ["pop", "user"] } });
    const consumed = { caller: body.caller, action: body.action, consumerToken: "A".repeat(43) };
    expect((await client.api("POST", `/approvals/${minted.id}/consume`, consumed)).status).toBe(200);
    expect(complaints).toEqual([]);
  });

  it("stays undecided where the screen lock is not passed or the device is gone, and says what can be done", async () => {
    const ada = await addPerson(service);
    await openPhoneWithPasskey(ada);
    const { id } = await mintApproval(client, ada);
    await signInWithPasskey(`/a/${id}`);
    await device.setUserVerified(false);
    await page.waitForTimeout(1_000);
    await approveButton().click();
    await page.getByText("Your passkey did not answer.", { exact: false }).waitFor();
    expect((await statusOf(id)).status).toBe("pending");
    await device.setUserVerified(true);
    await approveButton().click();
    await page.getByText("You approved this").waitFor();
  });

  it("is not approved by a scripted browser that holds the session's cookie but no authenticator", async () => {
    const ada = await addPerson(service);
    await openPhoneWithPasskey(ada);
    const { id } = await mintApproval(client, ada);
    await signInWithPasskey(`/a/${id}`);
    await device.remove();
    const scripted = await context.newPage();
    await scripted.goto(`/a/${id}`);
    await scripted.waitForTimeout(1_000);
    // Everything that a script can press, post or invent.
    await scripted.evaluate(async (path) => {
      const form = document.querySelector<HTMLFormElement>('form[action$="/decision"]');
      if (!form) throw new Error("there is no form");
      const fields = new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]));
      const asked = await fetch(path, { method: "POST", body: fields });
      const { question } = (await asked.json()) as { question: { challenge: string } };
      const data = { type: "webauthn.get", challenge: question.challenge, origin: location.origin };
      const encode = (text: string) => btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
      const response = {
        clientDataJSON: encode(JSON.stringify(data)),
        authenticatorData: encode("A".repeat(37)),
        signature: "AAAA",
      };
      const answers = ["", JSON.stringify({ id: "AAAA", rawId: "AAAA", type: "public-key", response })];
      for (const passkey of answers) {
        const sent = new URLSearchParams([...fields, ["decision", "accept"], ["read", "yes"], ["passkey", passkey]]);
        await fetch(form.action, { method: "POST", body: sent });
      }
    }, `/a/${id}/challenge`);
    expect((await statusOf(id)).status).toBe("pending");
  });

  it("tells a person without a passkey to register one, and that this approval needs an older one; declining works", async () => {
    const ada = await addPerson(service);
    ({ context, page, complaints } = await openPhone(browser, { baseURL: server.url }));
    device = await addVirtualAuthenticator(page);
    const { id } = await mintApproval(client, ada);
    await page.goto(`/a/${id}`);
    await signInOnPage(page, ada.email);
    await page.getByText("needs a passkey that you registered before", { exact: false }).waitFor();
    expect(await approveButton().isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Register a passkey" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Phone");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Phone", { exact: true }).waitFor();
    await page.goto(`/a/${id}`);
    expect(await approveButton().isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByText("You declined this").waitFor();
    expect(complaints).toEqual([]);
  });

  it("can be read and declined with JavaScript off, and says why it cannot be approved", async () => {
    const ada = await addPerson(service);
    await openPhoneWithPasskey(ada);
    await context.close();
    ({ context, page, complaints } = await openPhone(browser, { baseURL: server.url, javaScriptEnabled: false }));
    const { id } = await mintApproval(client, ada);
    await page.goto(`/a/${id}`);
    await signInOnPage(page, ada.email);
    // Locators by text pass over a noscript.
    await page.locator("noscript p.notice").waitFor();
    await page.getByRole("button", { name: "Decline" }).click();
    await page.getByText("You declined this").waitFor();
  });
});

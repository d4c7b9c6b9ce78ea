import { pino } from "pino";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type CrmServer, startCrmServer } from "@/examples/crm-server/start";
import type { Service } from "@/lib/process";
import { startService } from "@/lib/service/start";
import type { ServerProcess } from "@/scripts/server-process";
import { type TestClient as ApiClient, addPerson, addTestClient, type Person } from "@/test/support/actors";
import { launchBrowser, openPhone, signInOnPage } from "@/test/support/browser";
import { createDatabase } from "@/test/support/database";
import { startServer } from "@/test/support/server";
import { BOTH_MODES, clientKinds, type Prompt, type TestClient } from "@/test/unit/sdk/mcp-clients";

let server: ServerProcess;
let service: Service;
let stopService: () => Promise<void>;
let crm: CrmServer;
let browser: Browser;
let api: ApiClient;
let ada: Person;
let eve: Person;
const tokens = { ada: "token-of-ada-0123456789abcdef", eve: "token-of-eve-0123456789abcdef" };

// Everything is real: the built process, PostgreSQL, an MCP server of the example, MCP clients that nobody here wrote, Chromium.
beforeAll(async () => {
  server = await startServer({
    databaseUrl: await createDatabase(),
  });
  ({ service, stop: stopService } = await startService(server.config, {
    log: pino({ level: "silent" }),
  }));
  api = await addTestClient(service, {
    declineCooldownSeconds: 0,
    maxMintsPerSubjectPerHour: 500,
    maxPendingPerSubject: 50,
  });
  ada = await addPerson(service, "Ada");
  eve = await addPerson(service, "Eve");
  browser = await launchBrowser();
});
// A CRM of its own for each test, with every project in it.
beforeEach(async () => {
  const caller = (person: Person) => ({ iss: person.iss, sub: person.sub, clientId: "chat-app" });
  crm = await startCrmServer({
    gate: { url: server.url, apiKey: api.apiKey },
    tokens: { [tokens.ada]: caller(ada), [tokens.eve]: caller(eve) },
  });
});
afterEach(() => crm.close());
afterAll(async () => {
  await browser?.close();
  await stopService?.();
  await server?.kill("SIGTERM");
});

const codeIn = (prompt: Prompt) => /code is (\d\d)/.exec(prompt.message)?.[1] ?? "";
/** What our page says; the framework has an alert of its own, which tells screen readers where they are. */
const alertOf = (page: Page) => page.locator("[role=alert]:not(#__next-route-announcer__)");
const project = () => crm.projects.all().projects.find((p) => !("deletedAt" in p && p.deletedAt));
const executions = () => crm.projects.all().executions.length;
const text = (result: { content: unknown[] }) => JSON.stringify(result.content);

type Kind = keyof typeof clientKinds;

/** Calls the guarded tool as the agent does, while `person` acts on the link. */
async function callDelete(kind: Kind, act: (prompt: Prompt) => Promise<void>) {
  const target = project();
  if (!target) throw new Error("no project is left");
  let acting: Promise<void> = Promise.resolve();
  const mcp: TestClient = await clientKinds[kind]({
    url: crm.url,
    token: tokens.ada,
    elicitation: BOTH_MODES,
    onPrompt: (prompt) => {
      acting = act(prompt);
      return "accept";
    },
  });
  const before = executions();
  const result = await mcp.call("delete_project", { project_id: target.id, expected_items: target.items });
  await acting;
  await mcp.close();
  return { result, ran: executions() - before, prompts: mcp.prompts };
}

async function approve(page: Page, prompt: Prompt): Promise<void> {
  await page.getByLabel("Confirmation code").fill(codeIn(prompt));
  await page.waitForTimeout(1_100); // nobody reads faster, and the service refuses who does
  await page.getByRole("button", { name: "Approve" }).click();
}

describe("the main job", () => {
  it.each(["modern", "legacy", "v1"] as const)(
    "with the %s client: a person signs in, reads, approves, and the tool runs exactly once",
    async (kind) => {
      const { context, page, complaints } = await openPhone(browser);
      const { result, ran, prompts } = await callDelete(kind, async (prompt) => {
        await page.goto(prompt.url);
        expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe("Sign in");
        expect(await page.content()).not.toContain("project_id");
        await signInOnPage(page, ada.email);
        await page.getByRole("heading", { name: /Delete project/ }).waitFor();
        expect(page.url()).toBe(prompt.url);
        expect(await page.getByText("This cannot be undone.").isVisible()).toBe(true);
        await approve(page, prompt);
        await page
          .getByText(/You approved this|Done/)
          .first()
          .waitFor();
      });
      expect([result.isError ?? false, ran, prompts.length]).toEqual([false, 1, 1]);
      await page.reload();
      expect(await page.getByText("You approved this, and it ran once.").isVisible()).toBe(true);
      expect(complaints).toEqual([]);
      await context.close();
    },
  );

  it("a decline and a close run nothing, and the agent is told each apart with the note that was typed", async () => {
    const { context, page } = await openPhone(browser);
    await page.goto(`${server.url}/inbox`);
    await signInOnPage(page, ada.email);
    const texts: string[] = [];
    for (const name of ["Decline", "Close without deciding"]) {
      const { result, ran } = await callDelete("modern", async (prompt) => {
        await page.goto(prompt.url);
        await page.getByLabel("Note (optional)").fill("I meant Artemis");
        await page.getByRole("button", { name, exact: true }).click();
        await page
          .getByText(/You declined this|Closed without deciding/)
          .first()
          .waitFor();
      });
      expect([result.isError, ran]).toEqual([true, 0]);
      expect(text(result)).toContain("I meant Artemis");
      texts.push(text(result));
    }
    expect(new Set(texts).size).toBe(2);
    await context.close();
  });

  it("I2: another person who opens the link sees the page of an unknown id, decides nothing, and the right one still can", async () => {
    const eves = await openPhone(browser);
    const adas = await openPhone(browser);
    const { result, ran } = await callDelete("modern", async (prompt) => {
      await eves.page.goto(prompt.url);
      await signInOnPage(eves.page, eve.email);
      const seen = await eves.page.locator("main").innerHTML();
      expect(await eves.page.getByRole("heading").first().textContent()).toBe(`Nothing here for ${eve.email}.`);
      const unknown = await eves.page.goto(`${server.url}/a/apr_00000000000000000000000000`);
      expect([unknown?.status(), await eves.page.locator("main").innerHTML()]).toEqual([404, seen]);
      const malformed = await eves.page.goto(`${server.url}/a/nonsense`);
      expect([malformed?.status(), await eves.page.locator("main").innerHTML()]).toEqual([404, seen]);
      await adas.page.goto(prompt.url);
      await signInOnPage(adas.page, ada.email);
      await approve(adas.page, prompt);
      await adas.page
        .getByText(/You approved this|Done/)
        .first()
        .waitFor();
    });
    expect([result.isError ?? false, ran]).toEqual([false, 1]);
    await eves.context.close();
    await adas.context.close();
  });

  it("I15: another caller's identical call does not run on this person's approval", async () => {
    const target = project();
    if (!target) throw new Error("no project is left");
    const { context, page } = await openPhone(browser);
    await page.goto(`${server.url}/inbox`);
    await signInOnPage(page, ada.email);
    let release: (prompt: Prompt) => void = () => {};
    const prompted = new Promise<Prompt>((resolve) => {
      release = resolve;
    });
    const before = executions();
    const stopped = new AbortController();
    const eves = await clientKinds.modern({
      url: crm.url,
      token: tokens.eve,
      elicitation: BOTH_MODES,
      onPrompt: (prompt) => {
        release(prompt);
        return "accept";
      },
    });
    const call = eves
      .call("delete_project", { project_id: target.id, expected_items: target.items }, { signal: stopped.signal })
      .catch((error: Error) => error);
    const prompt = await prompted;
    const response = await page.goto(prompt.url);
    expect(response?.status()).toBe(404);
    stopped.abort();
    await call;
    expect(executions()).toBe(before);
    await eves.close();
    await context.close();
  });

  it("works without JavaScript, from sign-in to the decision and the language, in Japanese too", async () => {
    const { context, page } = await openPhone(browser, { javaScriptEnabled: false, locale: "ja-JP" });
    const { result, ran } = await callDelete("modern", async (prompt) => {
      await page.goto(prompt.url);
      await page.getByLabel("メールアドレス").fill(ada.email);
      await page.getByLabel("パスワード").fill("wrong password entirely");
      await page.getByRole("button", { name: "サインイン" }).click();
      expect(await alertOf(page).textContent()).toBe("メールアドレスまたはパスワードが正しくありません。");
      await page.getByLabel("メールアドレス").fill(ada.email);
      await page.getByLabel("パスワード").fill("correct horse battery staple");
      await page.getByRole("button", { name: "サインイン" }).click();
      expect(page.url()).toBe(prompt.url);
      for (const name of ["承認する", "却下する", "決めずに終了"])
        expect(await page.getByRole("button", { name, exact: true }).isVisible()).toBe(true);
      expect(await page.getByRole("link", { name: "心当たりがない" }).isVisible()).toBe(true);
      await page.getByRole("button", { name: "English" }).click();
      expect(page.url()).toBe(prompt.url);
      await page.getByLabel("Note (optional)").fill("kept");
      await page.getByLabel("Confirmation code").fill("00");
      await page.waitForTimeout(1_100);
      await page.getByRole("button", { name: "Approve" }).click();
      expect(await alertOf(page).textContent()).toContain("That is not the confirmation code");
      expect(await page.getByLabel("Note (optional)").inputValue()).toBe("kept");
      await approve(page, prompt);
      expect(await page.getByLabel("How it ended").textContent()).toMatch(/You approved this|Done/);
    });
    expect([result.isError ?? false, ran]).toEqual([false, 1]);
    await context.close();
  });

  it("Enter in the code field decides nothing", async () => {
    const { context, page } = await openPhone(browser);
    const { ran } = await callDelete("modern", async (prompt) => {
      await page.goto(prompt.url);
      await signInOnPage(page, ada.email);
      await page.getByLabel("Confirmation code").fill(codeIn(prompt));
      await page.getByLabel("Confirmation code").press("Enter");
      await alertOf(page).waitFor();
      expect(await alertOf(page).textContent()).toContain("Nothing was decided yet");
      await page.getByRole("button", { name: "Decline", exact: true }).click();
      await page.getByText("You declined this").waitFor();
    });
    expect(ran).toBe(0);
    await context.close();
  });
});

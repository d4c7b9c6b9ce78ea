import { consume } from "@/lib/approvals/consume";
import { reportOutcome } from "@/lib/approvals/report-outcome";
import type { Service } from "@/lib/process";
import { flashCookie } from "@/lib/requests/flash";
import { addPerson, addTestClient, mintApproval, mintBody, type Person, signIn, type TestClient } from "./actors";
import { seedAdminPages } from "./admin-page-states";
import { expireIn } from "./deadline";
import { decideAs } from "./deciding";
import { addPasskey } from "./passkeys";

type Cookie = { name: string; value: string };
export type PageState = { name: string; path: string; cookies: Cookie[] };

const asCookie = (text: string): Cookie => {
  const [name = "", ...value] = (text.split(";")[0] ?? "").split("=");
  return { name, value: value.join("=") };
};

const rich = {
  presentation: {
    title: { en: "Delete project Apollo and its 318 items", ja: "プロジェクト「アポロ」と318件の項目を削除" },
    purpose: {
      en: "Customer asked to close the account (ticket 8812)",
      ja: "お客様からの解約のご依頼（チケット8812）",
    },
    destination: { en: "production CRM", ja: "本番CRM" },
    irreversible: true,
    details: [{ label: { en: "Project", ja: "プロジェクト" }, value: "Apollo (p_42)", risk: true }],
    checks: [{ label: { en: "Items", ja: "項目数" }, claimed: 318, actual: 318 }],
    modelNote: "The user wants a clean start, so removing the old project is the best option.",
  },
  action: { tool: "delete_project", arguments: { project_id: "p_42", expected_items: 318, notify: true } },
  mcpClient: { name: "Example Chat", version: "4.2" },
  requirements: { matchCode: true },
};

let deep: unknown = "at the bottom";
for (let i = 0; i < 28; i += 1) deep = i % 3 ? { next: deep } : [deep];

const odd = {
  presentation: {
    title: "Send 1,200 € to раураl",
    details: [
      { label: "Payee", value: "раураl.example", risk: true },
      { label: "File", value: "invoice\u202Efdp.exe", risk: false },
    ],
    modelNote: "Ignore the <b>above</b>.\nhttps://evil.example/approve",
  },
  action: {
    tool: "send_money",
    arguments: {
      to: "рayраl.example",
      note: "closing \u202Egnp.exe\u200B and\ttab",
      memo: "line one\nline two\n  indented",
      "": "a name that is empty",
      long: `${"0123456789abcdef".repeat(30)}`,
      full: "ＡＢＣ１２３　全角",
      amount: 1200.5,
      copy: null,
      tags: [],
      options: {},
      deep,
      trailing: "ends with a space ",
    },
  },
  requirements: { matchCode: false },
};

/** Every state that a page can be in, with what a browser needs to see it. */
export async function seedPages(service: Service): Promise<PageState[]> {
  const client = await addTestClient(service, { maxMintsPerSubjectPerHour: 500, maxPendingPerSubject: 100 });
  const strict = await addTestClient(service, { default: { maxAuthAgeSeconds: 0 } });
  const ada = await addPerson(service, "Ada");
  const bob = await addPerson(service, "Bob");
  const auditor = await addPerson(service, "Iris", ["auditor"]);
  const [adas, bobs, audits] = [await signIn(service, ada), await signIn(service, bob), await signIn(service, auditor)];
  const mine = [asCookie(adas.cookie)];
  const pending = await mintApproval(client, ada, rich);
  const hidden = await mintApproval(client, ada, odd);
  const stepUp = await mintApproval(strict, ada, rich);
  const signing = await addTestClient(service, { default: { passkey: "required" } });
  await addPasskey(service, ada);
  const [passkey, noPasskey] = [await mintApproval(signing, ada, rich), await mintApproval(signing, bob, rich)];
  const ended = await seedEndings(service, client, ada);
  const notice = asCookie(
    await flashCookie(
      service,
      { sid: adas.session.sid, target: pending.id },
      { notice: "code_wrong", note: "Please keep the archive." },
    ),
  );
  return [
    { name: "signin", path: `/a/${pending.id}`, cookies: [] },
    { name: "signin-wrong", path: "/signin?error=CredentialsSignin", cookies: [] },
    { name: "pending", path: `/a/${pending.id}`, cookies: mine },
    { name: "pending-notice", path: `/a/${pending.id}`, cookies: [...mine, notice] },
    { name: "pending-odd", path: `/a/${hidden.id}`, cookies: mine },
    { name: "pending-passkey", path: `/a/${passkey.id}`, cookies: mine },
    { name: "pending-passkey-none", path: `/a/${noPasskey.id}`, cookies: [asCookie(bobs.cookie)] },
    { name: "not-requested", path: `/a/${pending.id}/not-requested`, cookies: mine },
    { name: "step-up", path: `/a/${stepUp.id}`, cookies: mine },
    { name: "miss", path: `/a/${pending.id}`, cookies: [asCookie(bobs.cookie)] },
    ...ended.map(({ name, id }) => ({ name: `ended-${name}`, path: `/a/${id}`, cookies: mine })),
    { name: "inbox", path: "/inbox", cookies: mine },
    { name: "inbox-empty", path: "/inbox", cookies: [asCookie(bobs.cookie)] },
    { name: "account", path: "/account", cookies: mine },
    { name: "account-empty", path: "/account", cookies: [asCookie(bobs.cookie)] },
    { name: "signout", path: "/signout", cookies: mine },
    { name: "audit", path: "/audit", cookies: [asCookie(audits.cookie)] },
    { name: "audit-detail", path: `/audit/${ended[2]?.id}`, cookies: [asCookie(audits.cookie)] },
    ...(await seedAdminPages(service)),
  ];
}

async function seedEndings(
  service: Service,
  client: TestClient,
  person: Person,
): Promise<{ name: string; id: string }[]> {
  const { session } = await signIn(service, person);
  const states: { name: string; id: string }[] = [];
  for (const name of ["accepted", "declined", "succeeded", "cancelled", "expired", "withdrawn"]) {
    const action = { tool: "delete_project", arguments: { project_id: name } };
    const { id } = await mintApproval(client, person, { ...rich, action, requirements: { matchCode: false } });
    states.push({ name, id });
    if (name === "declined" || name === "cancelled")
      await decideAs(service, session, id, name === "declined" ? "decline" : "cancel", {
        note: "Wrong project: I meant Artemis.",
      });
    if (name === "accepted" || name === "succeeded") await decideAs(service, session, id, "accept");
    if (name === "succeeded") await run(service, client, person, id, action);
    if (name === "expired") await expireIn(service, id, 0);
    if (name === "withdrawn") await client.api("POST", `/approvals/${id}/withdraw`, { reason: "aborted" });
  }
  return states;
}

async function run(
  service: Service,
  client: TestClient,
  person: Person,
  id: string,
  action: { tool: string; arguments: Record<string, string> },
): Promise<void> {
  const key = await service.clients.byKeyId(client.keyId);
  if (!key) throw new Error("the key is not there");
  const consumerToken = "A".repeat(43);
  await consume(service, key, id, { caller: mintBody(person).caller, action, consumerToken });
  await reportOutcome(service, key, id, { consumerToken, outcome: "succeeded" });
}

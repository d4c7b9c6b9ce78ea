import { noticeCookie } from "@/lib/admin/notice";
import { freezeClient } from "@/lib/clients/freeze";
import { readClock } from "@/lib/database/clock";
import type { Service } from "@/lib/process";
import { disableUser } from "@/lib/users/disable";
import { macOfIdentity } from "@/lib/users/identity";
import { linkIdentity } from "@/lib/users/link";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "./actors";
import { decideAs } from "./deciding";
import type { PageState } from "./page-states";
import { seedWebhookPages } from "./webhook-page-states";

const actor = { kind: "admin", via: "cli" } as const;
const iss = "https://login.example.com";

const asCookie = (pair: string) => {
  const [name = "", ...value] = (pair.split(";")[0] ?? "").split("=");
  return { name, value: value.join("=") };
};

/** Every state of the admin pages, and of what a person sees who did not ask for something. */
export async function seedAdminPages(service: Service): Promise<PageState[]> {
  const admin = await addPerson(service, "Alan", ["admin"]);
  const { session, cookie } = await signIn(service, admin);
  const cookies = [asCookie(cookie)];
  const authTime = Math.floor((await readClock(service.pool)).getTime() / 1000) - 600;
  const stale = [asCookie((await signIn(service, admin, { authTime })).cookie)];
  const reported = await addTestClient(service);
  const frozen = await addTestClient(service, {
    tools: ["delete_project", "send_money"],
    issuers: [service.issuer, iss],
  });
  const person = await seedReports(service, reported.clientId, (who) => mintApproval(reported, who));
  await freezeClient(service, frozen.clientId, actor);
  const linked = await seedLinks(service);
  const disabled = await addPerson(service, "Walter");
  await disableUser(service, disabled.email, actor);
  const page = `/admin/people/${linked.userId}`;
  const typed = { iss: `${iss}/`, sub: "00u1a2b3c4d5e6f7g8" };
  const notice = asCookie(await noticeCookie(service, { sid: session.sid, page }, "link_taken", typed));
  const adminPages = Object.entries({
    "": "/admin",
    "-client": `/admin/clients/${reported.clientId}`,
    "-client-frozen": `/admin/clients/${frozen.clientId}`,
    "-people": "/admin/people",
    "-person": page,
    "-person-self": `/admin/people/${admin.userId}`,
    "-person-disabled": `/admin/people/${disabled.userId}`,
  }).map(([name, path]) => ({ name: `admin${name}`, path, cookies }));
  return [
    ...adminPages,
    { name: "admin-client-stale", path: `/admin/clients/${reported.clientId}`, cookies: stale },
    { name: "admin-person-notice", path: page, cookies: [...cookies, notice] },
    ...(await seedWebhookPages(service, cookies, stale)),
    { name: "admin-miss", path: "/admin", cookies: person.cookies },
    { name: "account-freezes", path: "/account", cookies: person.cookies },
    { name: "account-freezes-stale", path: "/account", cookies: person.staleCookies },
    { name: "ended-not-requested", path: `/a/${person.approvalId}`, cookies: person.cookies },
    { name: "ended-frozen", path: `/a/${person.withdrawnId}`, cookies: person.cookies },
  ];
}

/** Three people say of this client that they did not ask; the last one's pages are shown. */
async function seedReports(service: Service, clientId: string, mint: (person: Person) => Promise<{ id: string }>) {
  for (const name of ["Ben", "Cleo"]) {
    const person = await addPerson(service, name);
    const { session } = await signIn(service, person);
    await decideAs(service, session, (await mint(person)).id, "not_requested");
  }
  const person = await addPerson(service, "Dora");
  const { session, cookie } = await signIn(service, person);
  const authTime = Math.floor((await readClock(service.pool)).getTime() / 1000) - 600;
  const stale = await signIn(service, person, { authTime });
  const [asked, withdrawn] = [await mint(person), await mint(person)];
  await decideAs(service, session, asked.id, "not_requested", { note: "Nobody in our team uses this." });
  return {
    clientId,
    cookies: [asCookie(cookie)],
    staleCookies: [asCookie(stale.cookie)],
    approvalId: asked.id,
    withdrawnId: withdrawn.id,
  };
}

/** A person with an identity of each kind, one of them forged. */
async function seedLinks(service: Service): Promise<Person> {
  const person = await addPerson(service, "Olga");
  await signIn(service, person);
  await linkIdentity(service, { user: person.email, iss, sub: "auth0|5f7c8ec7c33c6c004bbafe82" }, actor);
  const rows = [
    { sub: "google-oauth2|103547991597142817347", isForged: false },
    { sub: "gіthub|583231\u200B", isForged: true },
  ];
  for (const { sub, isForged } of rows) {
    const row = { iss, sub, userId: person.userId, mayApprove: false, linkedBy: "self_service" };
    const mac = macOfIdentity(service.secrets, isForged ? { ...row, mayApprove: true } : row);
    await service.prisma.identity.create({ data: { ...row, mac } });
  }
  return person;
}

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { acknowledgeAlert } from "@/lib/admin/acknowledge";
import { listAlerts } from "@/lib/admin/alerts";
import { readOverview } from "@/lib/admin/overview";
import { readClientForAdmin } from "@/lib/admin/read-client";
import { freezeClient, unfreezeClient } from "@/lib/clients/freeze";
import { listClients } from "@/lib/clients/list";
import type { Service } from "@/lib/process";
import { explainSubject } from "@/lib/users/explain-subject";
import { linkIdentity } from "@/lib/users/link";
import { addPerson, addTestClient, mintApproval, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

const admin = { kind: "admin", userId: "usr_admin", via: "page" } as const;
const iss = "https://as.example.com";

let t: TestService;
/** A second process over the same database. */
let second: TestService;
let people: Person[];

beforeAll(async () => {
  t = await createTestService();
  const { secret } = t.service.config;
  second = await createTestService({ databaseUrl: t.databaseUrl, secret });
  people = await Promise.all(["Ada", "Bob", "Cy", "Dee", "Eli"].map((name) => addPerson(t.service, name)));
});
afterAll(async () => {
  await second.stop();
  await t.stop();
});

const newClient = () => addTestClient(t.service, { issuers: [iss, t.service.issuer] });

/** Says of a new request of this client that it was not asked for; `subject` where it is not the person's own identity. */
async function report(
  client: TestClient,
  person: Person | undefined,
  options: { service?: Service; subject?: { iss: string; sub: string } } = {},
): Promise<void> {
  const { service = t.service } = options;
  if (!person) throw new Error("nobody is there");
  const { session } = await signIn(service, person);
  const { id } = await mintApproval(client, options.subject ?? person);
  expect(await decideAs(service, session, id, "not_requested")).toEqual({ kind: "decided" });
}

const eventsOf = async ({ clientId }: TestClient) =>
  (
    await t.service.pool.query(
      `SELECT "actor", "data" FROM "audit_event" WHERE "client_id" = $1 AND "type" = 'security.client_reported' ORDER BY "seq"`,
      [clientId],
    )
  ).rows;
const alertsOf = async ({ clientId }: TestClient) =>
  (await listAlerts(t.service.pool)).filter((alert) => alert.clientId === clientId);

/** Makes everything about this client look as if it were so much older. */
async function age({ clientId }: TestClient, interval: string): Promise<void> {
  const { pool } = t.service;
  await pool.query(`UPDATE "freeze" SET "created_at" = "created_at" - $2::interval WHERE "client_id" = $1`, [
    clientId,
    interval,
  ]);
  await pool.query(`ALTER TABLE "audit_event" DISABLE TRIGGER USER`);
  await pool.query(`UPDATE "audit_event" SET "at" = "at" - $2::interval WHERE "client_id" = $1`, [clientId, interval]);
  await pool.query(`ALTER TABLE "audit_event" ENABLE TRIGGER USER`);
}

it("three people within an hour alert the admins, once: the history, the log and the overview say so", async () => {
  const client = await newClient();
  const logged = vi.spyOn(t.service.log, "error");
  await report(client, people[0]);
  await report(client, people[1]);
  expect(await eventsOf(client)).toEqual([]);
  expect(await alertsOf(client)).toEqual([]);
  await report(client, people[2]);
  expect(await eventsOf(client)).toEqual([{ actor: { kind: "service" }, data: { people: 3 } }]);
  expect(await alertsOf(client)).toMatchObject([{ clientName: "CRM server", people: 3 }]);
  await report(client, people[3]);
  expect(await eventsOf(client)).toHaveLength(1);
  expect(logged).toHaveBeenCalledOnce();
  expect(logged).toHaveBeenCalledWith({ clientId: client.clientId, people: 3 }, expect.any(String));
});

it("three linked identities of one user are one person, and so is the same person twice", async () => {
  const client = await newClient();
  const subjects = ["one", "two", "three"].map((name) => ({ iss, sub: `${name}-${client.clientId}` }));
  for (const subject of subjects)
    await linkIdentity(t.service, { user: people[0]?.email ?? "", ...subject }, { kind: "admin", via: "cli" });
  await report(client, people[0], { subject: subjects[0] ?? { iss, sub: "" } });
  await report(client, people[1]);
  expect(await eventsOf(client)).toEqual([]);
  await report(client, people[2]);
  expect(await eventsOf(client)).toEqual([{ actor: { kind: "service" }, data: { people: 3 } }]);
});

it("what somebody said more than an hour ago does not count, and after an hour the next alert is raised", async () => {
  const client = await newClient();
  await report(client, people[0]);
  await report(client, people[1]);
  await age(client, "61 minutes");
  await report(client, people[2]);
  expect(await eventsOf(client)).toEqual([]);
  await report(client, people[3]);
  await report(client, people[4]);
  expect(await eventsOf(client)).toHaveLength(1);
  await t.service.pool.query(`ALTER TABLE "audit_event" DISABLE TRIGGER USER`);
  await t.service.pool.query(
    `UPDATE "audit_event" SET "at" = "at" - INTERVAL '61 minutes' WHERE "client_id" = $1 AND "type" = 'security.client_reported'`,
    [client.clientId],
  );
  await t.service.pool.query(`ALTER TABLE "audit_event" ENABLE TRIGGER USER`);
  await report(client, await addPerson(t.service, "Fay"));
  expect(await eventsOf(client)).toEqual([
    { actor: { kind: "service" }, data: { people: 3 } },
    { actor: { kind: "service" }, data: { people: 4 } },
  ]);
  expect(await alertsOf(client)).toMatchObject([{ people: 4 }]);
});

it("of reports at the same moment on two replicas the third is seen by one of them, and one alert is raised", async () => {
  for (let round = 0; round < 4; round += 1) {
    const client = await newClient();
    const services = [t.service, second.service, t.service, second.service];
    await Promise.all(services.map((service, i) => report(client, people[i], { service })));
    const events = await eventsOf(client);
    expect(events).toHaveLength(1);
    expect([3, 4]).toContain(events[0]?.data.people);
  }
});

it("an alert stands until an admin acknowledges it, and a later one is shown again", async () => {
  const client = await newClient();
  for (const person of people.slice(0, 3)) await report(client, person);
  const [alert] = await alertsOf(client);
  const of = { clientId: client.clientId, seq: alert?.seq ?? "" };
  const other = await newClient();
  expect(await acknowledgeAlert(t.service, { ...of, clientId: other.clientId }, admin)).toEqual({ changed: false });
  expect(await acknowledgeAlert(t.service, { ...of, seq: "1" }, admin)).toEqual({ changed: false });
  const both = await Promise.all([1, 2].map(() => acknowledgeAlert(t.service, of, admin)));
  expect(both.filter(({ changed }) => changed)).toHaveLength(1);
  expect(await alertsOf(client)).toEqual([]);
  const { rows } = await t.service.pool.query(
    `SELECT "actor", "data" FROM "audit_event" WHERE "type" = 'admin.alert_acknowledged' AND "client_id" = $1`,
    [client.clientId],
  );
  expect(rows).toEqual([{ actor: admin, data: { alert: of.seq } }]);
  await age(client, "61 minutes");
  for (const name of ["Gus", "Hal", "Ida"]) await report(client, await addPerson(t.service, name));
  expect(await alertsOf(client)).toMatchObject([{ people: 3 }]);
});

it("a freeze for everybody answers an alert, and after a day it is shown no more", async () => {
  const [frozen, old] = [await newClient(), await newClient()];
  for (const client of [frozen, old]) for (const person of people.slice(0, 3)) await report(client, person);
  expect([await alertsOf(frozen), await alertsOf(old)]).toMatchObject([[{ people: 3 }], [{ people: 3 }]]);
  await freezeClient(t.service, frozen.clientId, admin);
  expect(await alertsOf(frozen)).toEqual([]);
  await unfreezeClient(t.service, frozen.clientId, admin);
  expect(await alertsOf(frozen)).toEqual([]);
  await age(old, "25 hours");
  expect(await alertsOf(old)).toEqual([]);
});

it("what an admin has answered counts no more: three more people within the same hour are the next alert", async () => {
  const answers = {
    acknowledged: async (client: TestClient) => {
      const [alert] = (await listAlerts(t.service.pool)).filter(({ clientId }) => clientId === client.clientId);
      await acknowledgeAlert(t.service, { clientId: client.clientId, seq: alert?.seq ?? "" }, admin);
    },
    frozen: async (client: TestClient) => {
      await freezeClient(t.service, client.clientId, admin);
      await unfreezeClient(t.service, client.clientId, admin);
    },
  };
  for (const answer of Object.values(answers)) {
    const client = await newClient();
    for (const person of people.slice(0, 3)) await report(client, person);
    await answer(client);
    const more = await Promise.all(["Fay", "Gil", "Hal"].map((name) => addPerson(t.service, name)));
    await report(client, more[0]);
    await report(client, more[1]);
    expect((await listAlerts(t.service.pool)).map(({ clientId }) => clientId)).not.toContain(client.clientId);
    await report(client, more[2]);
    const shown = (await listAlerts(t.service.pool)).filter(({ clientId }) => clientId === client.clientId);
    expect(shown).toMatchObject([{ people: 3 }]);
    await report(client, await addPerson(t.service, "Ivy"));
    // Told once, and counted on: those whom the answer was for are not among them.
    expect(await alertsOf(client)).toMatchObject([{ seq: shown[0]?.seq, people: 4 }]);
  }
});

it("frozen by so many people counts people: three linked identities of one are one", async () => {
  const client = await newClient();
  for (const name of ["x", "y", "z"]) {
    const subject = { iss, sub: `${name}-${client.clientId}` };
    await linkIdentity(t.service, { user: people[0]?.email ?? "", ...subject }, { kind: "admin", via: "cli" });
  }
  await report(client, people[0], { subject: { iss, sub: `x-${client.clientId}` } });
  await report(client, people[1]);
  expect(await listClients(t.service, { clientId: client.clientId })).toMatchObject([{ frozenByPeople: 2 }]);
});

it("lifting a freeze for everybody leaves those that people have put up for themselves", async () => {
  const client = await newClient();
  await report(client, people[0]);
  await freezeClient(t.service, client.clientId, admin);
  await unfreezeClient(t.service, client.clientId, admin);
  const listed = (await listClients(t.service)).find(({ clientId }) => clientId === client.clientId);
  expect(listed).toMatchObject({ isFrozen: false, frozenByPeople: 1 });
});

it("one spoilt row takes neither the overview nor another client's page away", async () => {
  const [spoilt, other] = [await newClient(), await newClient()];
  await t.service.pool.query(`UPDATE "client_policy" SET "policy" = '{}' WHERE "client_id" = $1`, [spoilt.clientId]);
  for (const type of ["admin.alert_acknowledged", "security.client_reported"])
    await t.service.pool.query(
      `INSERT INTO "audit_event" ("at", "type", "client_id", "actor", "data") VALUES (clock_timestamp(), $1, $2, '{}', '{"alert":"x","people":"y"}')`,
      [type, spoilt.clientId],
    );
  const someone = await addPerson(t.service, "Alan", ["admin"]);
  const { session } = await signIn(t.service, someone);
  const overview = await readOverview(t.service, session);
  expect(overview?.clients.find(({ clientId }) => clientId === spoilt.clientId)?.isPolicyReadable).toBe(false);
  expect((await readClientForAdmin(t.service, session, other.clientId))?.client.isPolicyReadable).toBe(true);
  expect((await readClientForAdmin(t.service, session, spoilt.clientId))?.client.isPolicyReadable).toBe(false);
  const { remarks } = await explainSubject(t.service, someone);
  const { clientId } = spoilt;
  expect(remarks).toContainEqual({ kind: "policy_unreadable", clientId, name: "CRM server" });
});

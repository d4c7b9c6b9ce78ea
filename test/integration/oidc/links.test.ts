import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readInbox } from "@/lib/approvals/inbox";
import { openForPerson } from "@/lib/approvals/open";
import { parseConfig } from "@/lib/config";
import type { Service } from "@/lib/process";
import { macOfIdentity } from "@/lib/users/identity";
import { linkIdentity } from "@/lib/users/link";
import { linkSelf, unlinkSelf } from "@/lib/users/link-self";
import { setRoles } from "@/lib/users/set-roles";
import { addPerson, addTestClient, mintApproval, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";

let t: TestService;
let client: TestClient;
const issuer = "https://login.example.com";
const foreign = "https://elsewhere.example";
const actor = { kind: "admin", via: "cli" } as const;
const { oidcProviders } = parseConfig({
  OIDC_PROVIDERS: JSON.stringify([{ id: "acme", label: "Acme", issuer, clientId: "c", clientSecret: "s" }]),
});

beforeAll(async () => {
  t = await createTestService({ oidcProviders });
  client = await addTestClient(t.service, {
    issuers: [t.service.issuer, issuer, foreign],
    maxPendingPerSubject: 50,
  });
});
afterAll(() => t.stop());

let count = 0;
const unique = () => {
  count += 1;
  return `sub-${count}`;
};
const pendingIn = async (service: Service, session: Parameters<typeof readInbox>[1]) =>
  (await readInbox(service, session, "en")).pending.map(({ id, signInAs }) => ({ id, signInAs }));

describe("a self-service link", () => {
  it("I2: lists and never decides; only an admin's link does, and the receipt says so", async () => {
    const ada = await addPerson(t.service);
    const { session } = await signIn(t.service, ada);
    const linked = { iss: issuer, sub: unique() };
    const { id } = await mintApproval(client, linked);
    expect(await pendingIn(t.service, session)).toEqual([]);
    expect(await linkSelf(t.service, session, { ...linked, provider: "acme" })).toBe("linked");
    expect(await pendingIn(t.service, session)).toEqual([{ id, signInAs: { kind: "provider", name: "Acme" } }]);
    expect(await openForPerson(t.service, session, id)).toBeUndefined();
    await linkIdentity(t.service, { user: ada.userId, ...linked }, actor);
    expect(await pendingIn(t.service, session)).toEqual([{ id, signInAs: undefined }]);
    expect((await openForPerson(t.service, session, id))?.via).toBe("admin_link");
    expect(await decideAs(t.service, session, id, "accept")).toEqual({ kind: "decided" });
  });

  it("I17: gives nothing by a row that nobody with the secret wrote, not even a line in the inbox", async () => {
    const ada = await addPerson(t.service);
    const { session } = await signIn(t.service, ada);
    const linked = { iss: issuer, sub: unique() };
    await mintApproval(client, linked);
    await t.service.prisma.identity.create({
      data: { ...linked, userId: ada.userId, mayApprove: false, linkedBy: "self_service", mac: new Uint8Array(32) },
    });
    expect(await pendingIn(t.service, session)).toEqual([]);
    // A genuine link of oneself, written over to be an admin's.
    const raised = { iss: issuer, sub: unique() };
    const { id } = await mintApproval(client, raised);
    await linkSelf(t.service, session, { ...raised, provider: "acme" });
    await t.service.prisma.identity.updateMany({ where: raised, data: { mayApprove: true, linkedBy: "admin" } });
    expect([await pendingIn(t.service, session), await openForPerson(t.service, session, id)]).toEqual([[], undefined]);
  });

  it("decides nothing though its row says that it may, as long as no admin made it", async () => {
    const ada = await addPerson(t.service);
    const { session } = await signIn(t.service, ada);
    for (const linkedBy of ["self_service", "sign_in", "self"]) {
      const row = { iss: issuer, sub: unique(), userId: ada.userId, mayApprove: true, linkedBy };
      const mac = macOfIdentity(t.service.secrets, row);
      await t.service.prisma.identity.create({ data: { ...row, mac } });
      const { id } = await mintApproval(client, row);
      expect(await openForPerson(t.service, session, id)).toBeUndefined();
    }
  });

  it("is told from which account an approval opens: a local one, one of a provider, one of an issuer without a button", async () => {
    const ada = await addPerson(t.service);
    const { session } = await signIn(t.service, ada);
    const [known, unknown] = [
      { iss: issuer, sub: unique() },
      { iss: foreign, sub: unique() },
    ];
    for (const identity of [known, unknown]) await linkSelf(t.service, session, { ...identity, provider: "acme" });
    const accounts = new Map<string, unknown>([
      [(await mintApproval(client, unknown)).id, { kind: "issuer", name: foreign }],
      [(await mintApproval(client, known)).id, undefined],
      [(await mintApproval(client, ada)).id, { kind: "local", name: ada.email }],
    ]);
    const other = await signIn(t.service, ada, known);
    const listed = await pendingIn(t.service, other.session);
    expect(new Map(listed.map(({ id, signInAs }) => [id, signInAs]))).toEqual(accounts);
  });

  it("is one user's: of two who link the same identity at once one gets it, and the other is told", async () => {
    const people = await Promise.all([addPerson(t.service, "Ada"), addPerson(t.service, "Eve")]);
    const sessions = await Promise.all(people.map(async (person) => (await signIn(t.service, person)).session));
    const identity = { iss: issuer, sub: unique(), provider: "acme" };
    const results = await Promise.all(sessions.map((session) => linkSelf(t.service, session, identity)));
    expect(results.toSorted()).toEqual(["linked", "taken"]);
  });

  it("goes only by its own person's hand, freshly signed in, and never with the account that is signed in", async () => {
    const ada = await addPerson(t.service);
    const { session } = await signIn(t.service, ada);
    const old = await signIn(t.service, ada, { authTime: session.authTime - 301 });
    const eve = await signIn(t.service, await addPerson(t.service, "Eve"));
    const link = { iss: issuer, sub: unique() };
    await linkSelf(t.service, session, { ...link, provider: "acme" });
    expect(await unlinkSelf(t.service, old.session, link)).toBe("sign_in_again");
    const asLinked = await signIn(t.service, ada, link);
    expect(await unlinkSelf(t.service, asLinked.session, link)).toBe("in_use");
    await expect(unlinkSelf(t.service, eve.session, link)).rejects.toMatchObject({ code: "not_found" });
    for (const sub of ["x\u0000", "", unique()])
      await expect(unlinkSelf(t.service, session, { iss: issuer, sub })).rejects.toMatchObject({ code: "not_found" });
    const byAdmin = { iss: issuer, sub: unique() };
    await linkIdentity(t.service, { user: ada.userId, ...byAdmin }, actor);
    await expect(unlinkSelf(t.service, session, byAdmin)).rejects.toMatchObject({ code: "not_found" });
    expect(await unlinkSelf(t.service, session, link)).toBe("unlinked");
    expect(
      await t.service.prisma.identity.findMany({ where: { userId: ada.userId, linkedBy: "self_service" } }),
    ).toEqual([]);
  });

  it("that nobody ever signed in with ends no session when it goes", async () => {
    const ada = await addPerson(t.service);
    const { session } = await signIn(t.service, ada);
    await signIn(t.service, ada);
    await setRoles(t.service, { user: ada.userId, roles: ["auditor"] }, actor);
    const link = { iss: issuer, sub: unique() };
    await linkSelf(t.service, session, { ...link, provider: "acme" });
    await unlinkSelf(t.service, session, link);
    expect(await t.service.prisma.session.count({ where: { userId: ada.userId, revokedAt: null } })).toBe(2);
    const events = await t.service.prisma.auditEvent.findMany({
      where: { type: { startsWith: "person.identity" }, data: { path: ["sub"], equals: link.sub } },
      orderBy: { seq: "asc" },
    });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ["person.identity_linked", { ...link, provider: "acme" }],
      ["person.identity_unlinked", { ...link, endedSessions: 0, removedPasskeys: 0 }],
    ]);
  });
});

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import type { ProvedIdentity } from "@/lib/oidc/claims";
import { findOrAddUser } from "@/lib/oidc/find-or-add-user";
import { finishFlow } from "@/lib/oidc/finish";
import { syncRole } from "@/lib/oidc/sync-role";
import { disableUser } from "@/lib/users/disable";
import { macOfIdentity } from "@/lib/users/identity";
import { rolesOf } from "@/lib/users/roles";
import { setRoles } from "@/lib/users/set-roles";
import { addPerson } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

let t: TestService;
const actor = { kind: "admin", via: "cli" } as const;
const issuer = "https://login.example.com";
const providers = parseConfig({
  OIDC_PROVIDERS: JSON.stringify([
    { id: "acme", label: "Acme", issuer, clientId: "c", clientSecret: "s", roles: { claim: "g", auditor: ["a"] } },
    {
      id: "closed",
      label: "Closed",
      issuer: "https://closed.example",
      clientId: "c",
      clientSecret: "s",
      createUsers: false,
    },
  ]),
}).oidcProviders;
const [acme, closed] = providers as [(typeof providers)[number], (typeof providers)[number]];

beforeAll(async () => {
  t = await createTestService({ oidcProviders: providers });
});
afterAll(() => t.stop());

const proved = (sub: string, change: Partial<ProvedIdentity> = {}): ProvedIdentity => ({
  iss: issuer,
  sub,
  authTime: undefined,
  amr: [],
  name: "Ada",
  contact: null,
  isAuditor: undefined,
  ...change,
});
const find = (sub: string, change: Partial<ProvedIdentity> = {}) => findOrAddUser(t.service, acme, proved(sub, change));

describe("the user of a proved identity", () => {
  it("of 20 first sign-ins at once one makes them, and leaves no other behind", async () => {
    const found = await Promise.all(Array.from({ length: 20 }, () => find("race", { name: "Race" })));
    expect(new Set(found.map((user) => user?.userId)).size).toBe(1);
    expect(await t.service.prisma.user.count({ where: { name: "Race" } })).toBe(1);
  });

  it("is found by the exact texts of iss and sub, and by nothing that only looks the same", async () => {
    const one = await find("Exact-é");
    for (const sub of ["exact-é", "Exact-e\u0301", "Exact-é ", "Exact-É"])
      expect((await find(sub))?.userId).not.toBe(one?.userId);
    expect((await find("Exact-é", { iss: `${issuer}/` }))?.userId).not.toBe(one?.userId);
    expect(await find("Exact-é")).toEqual(one);
  });

  it("I17: is nobody where the row was not written with the secret: neither signed in nor replaced", async () => {
    const ada = await addPerson(t.service, "Ada");
    const row = { iss: issuer, sub: "forged", userId: ada.userId, mayApprove: true, linkedBy: "sign_in" };
    await t.service.prisma.identity.create({ data: { ...row, mac: new Uint8Array(32) } });
    expect(await find("forged")).toBeUndefined();
    // Nor where a genuine row was turned to somebody else.
    await find("turned");
    await t.service.prisma.identity.updateMany({ where: { sub: "turned" }, data: { userId: ada.userId } });
    expect(await find("turned")).toBeUndefined();
    for (const linkedBy of ["admin", "self_service"]) {
      const mac = macOfIdentity(t.service.secrets, { ...row, sub: linkedBy });
      await t.service.prisma.identity.create({ data: { ...row, sub: linkedBy, linkedBy, mac } });
      expect(await find(linkedBy)).toBeUndefined();
    }
  });

  it("is the same nobody when disabled as when unknown to a provider that adds none", async () => {
    const found = await find("gone");
    await disableUser(t.service, found?.userId ?? "", actor);
    expect(await find("gone")).toBeUndefined();
    expect(await findOrAddUser(t.service, closed, proved("x", { iss: closed.issuer }))).toBeUndefined();
    expect(await t.service.prisma.identity.count({ where: { iss: closed.issuer } })).toBe(0);
  });

  it("keeps being called what an admin or the first sign-in said; only the provider's address for them follows", async () => {
    const sign = (email: string | undefined) =>
      finishFlow(t.service, {
        provider: acme,
        claims: { iss: issuer, sub: "contact", name: "Ada", ...(email ? { email } : {}) },
        headers: new Headers(),
      });
    await sign("old@x.example");
    await sign("new@x.example");
    await sign(undefined);
    const row = await t.service.prisma.identity.findFirstOrThrow({
      where: { sub: "contact" },
      include: { user: true },
    });
    expect([row.user.contact, row.user.email, row.user.name]).toEqual(["new@x.example", null, "Ada"]);
  });
});

describe("a role by a claim", () => {
  const roles = async (userId: string) =>
    rolesOf(t.service.secrets, await t.service.prisma.user.findUniqueOrThrow({ where: { id: userId } }));

  it("comes and goes with the claim, is written once for each change, and touches no admin", async () => {
    const found = (await find("roles")) ?? { userId: "", linkedBy: "" };
    const sync = (isAuditor: boolean | undefined, linkedBy = "sign_in") =>
      syncRole(t.service, acme, { ...found, linkedBy }, proved("roles", { isAuditor }));
    await sync(true);
    await sync(true);
    expect(await roles(found.userId)).toEqual(["auditor"]);
    await sync(undefined);
    expect(await roles(found.userId)).toEqual(["auditor"]);
    await sync(false, "self_service");
    expect(await roles(found.userId)).toEqual(["auditor"]);
    await sync(false, "admin");
    expect(await roles(found.userId)).toEqual([]);
    await sync(true, "self_service");
    expect(await roles(found.userId)).toEqual([]);
    await setRoles(t.service, { user: found.userId, roles: ["admin"] }, actor);
    await sync(true);
    await sync(false);
    expect(await roles(found.userId)).toEqual(["admin"]);
    const changes = await t.service.prisma.auditEvent.findMany({
      where: { type: "admin.roles_changed", data: { path: ["userId"], equals: found.userId } },
      orderBy: { seq: "asc" },
    });
    expect(
      changes.map(({ actor: who, data }) => [(who as { kind: string }).kind, (data as { roles: string[] }).roles]),
    ).toEqual([
      ["service", ["auditor"]],
      ["service", []],
      ["admin", ["admin"]],
    ]);
  });

  it("does not overwrite the role that an admin gives at the same moment", async () => {
    for (let round = 0; round < 10; round += 1) {
      const found = (await find(`role-race-${round}`)) ?? { userId: "", linkedBy: "sign_in" };
      await Promise.all([
        syncRole(t.service, acme, found, proved("x", { isAuditor: true })),
        setRoles(t.service, { user: found.userId, roles: ["admin"] }, actor),
      ]);
      expect(await roles(found.userId)).toEqual(["admin"]);
    }
  });
});

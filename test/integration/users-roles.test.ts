import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { readSession } from "@/lib/sessions/read";
import { listUsers } from "@/lib/users/list";
import { setRoles } from "@/lib/users/set-roles";
import { addPerson, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const actor = { kind: "admin", via: "cli" } as const;

let t: TestService;
let service: Service;

beforeAll(async () => {
  t = await createTestService();
  ({ service } = t);
});
afterAll(() => t.stop());

const rolesNow = async (cookie: string) => (await readSession(service, new Headers({ cookie })))?.roles;
const write = (userId: string, assignments: string, ...values: unknown[]) =>
  service.pool.query(`UPDATE "user" SET ${assignments} WHERE "id" = $1`, [userId, ...values]);

describe("I17: whoever can write the database makes nobody an admin or an auditor", () => {
  it("a role that is written into a row does not count, nor one with the MAC of somebody else's or of another role", async () => {
    const eve = await addPerson(service, "Eve");
    const admin = await addPerson(service, "Root", ["admin"]);
    const auditor = await addPerson(service, "Audit", ["auditor"]);
    const { cookie } = await signIn(service, eve);
    const macOf = async (id: string) => (await service.prisma.user.findUniqueOrThrow({ where: { id } })).rolesMac;
    await write(eve.userId, `"roles" = '{admin}'`);
    expect(await rolesNow(cookie)).toEqual([]);
    await write(eve.userId, `"roles_mac" = $2`, await macOf(admin.userId));
    expect(await rolesNow(cookie)).toEqual([]);

    const { cookie: auditors } = await signIn(service, auditor);
    expect(await rolesNow(auditors)).toEqual(["auditor"]);
    await write(auditor.userId, `"roles" = '{admin}'`);
    expect(await rolesNow(auditors)).toEqual([]);
    const listed = await listUsers(service);
    expect(listed.filter(({ roles }) => roles.length > 0).map(({ userId }) => userId)).toEqual([admin.userId]);
  });

  it("a role from before they were authenticated counts again once it is set again, and so does one that was forged", async () => {
    const old = await addPerson(service, "Old");
    await write(old.userId, `"roles" = '{admin}', "roles_mac" = NULL`);
    const { cookie } = await signIn(service, old);
    expect(await rolesNow(cookie)).toEqual([]);
    const set = await setRoles(service, { user: old.email, roles: ["admin"] }, actor);
    expect(set).toEqual({ userId: old.userId, roles: ["admin"], before: [] });
    expect(await rolesNow(cookie)).toEqual(["admin"]);
    await write(old.userId, `"roles" = '{auditor}'`);
    await setRoles(service, { user: old.userId, roles: [] }, actor);
    expect((await service.prisma.user.findUniqueOrThrow({ where: { id: old.userId } })).roles).toEqual([]);
  });

  it("nobody has two roles, and setting what is set already is no event", async () => {
    const ada = await addPerson(service);
    await expect(setRoles(service, { user: ada.email, roles: ["admin", "auditor"] }, actor)).rejects.toMatchObject({
      code: "invalid_request",
    });
    const changes = () => service.prisma.auditEvent.count({ where: { type: "admin.roles_changed" } });
    const before = await changes();
    await setRoles(service, { user: ada.email, roles: ["auditor"] }, actor);
    await setRoles(service, { user: ada.email, roles: ["auditor"] }, actor);
    expect(await changes()).toBe(before + 1);
  });
});

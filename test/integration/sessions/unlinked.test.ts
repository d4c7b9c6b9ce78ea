import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "@/lib/process";
import { readSession } from "@/lib/sessions/read";
import { linkSelf, unlinkSelf } from "@/lib/users/link-self";
import { addPerson, signIn } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { addPasskey } from "@/test/support/passkeys";

const iss = "https://login.example.com";

let t: TestService;
let service: Service;
beforeAll(async () => {
  t = await createTestService();
  ({ service } = t);
});
afterAll(() => t.stop());

let count = 0;

/** Somebody with a link of their own that has been signed in with, on a device each: their account's, the link's, and one they unlink from. */
async function stage() {
  count += 1;
  const person = await addPerson(service);
  const own = await signIn(service, person);
  const link = { iss, sub: `sub-${count}` };
  await linkSelf(service, own.session, { ...link, provider: "acme" });
  const [elsewhere, linked] = [await signIn(service, person), await signIn(service, { ...person, ...link })];
  return { person, own, elsewhere, linked, link };
}

const holds = async ({ cookie }: { cookie: string }) =>
  (await readSession(service, new Headers({ cookie }))) !== undefined;
const isRevoked = async ({ session: { sid } }: { session: { sid: string } }) =>
  (await service.prisma.session.findUniqueOrThrow({ where: { sid } })).revokedAt !== null;
const eventOf = (sub: string) =>
  service.prisma.auditEvent.findFirst({
    where: { type: "person.identity_unlinked", data: { path: ["sub"], equals: sub } },
  });

describe("a link that the person takes away themself", () => {
  it("takes every other session with it where it was signed in with, for good, and leaves the one that took it away", async () => {
    const { own, elsewhere, linked, link } = await stage();
    const eves = await signIn(service, await addPerson(service, "Eve"));
    expect(await unlinkSelf(service, own.session, link)).toBe("unlinked");
    expect(await Promise.all([own, elsewhere, linked, eves].map(holds))).toEqual([true, false, false, true]);
    expect(await eventOf(link.sub)).toMatchObject({ data: { ...link, endedSessions: 2, removedPasskeys: 0 } });
    // Linked anew, the cookie of before opens nothing.
    await linkSelf(service, own.session, { ...link, provider: "acme" });
    expect(await holds(linked)).toBe(false);
    expect(await isRevoked(linked)).toBe(true);
  });

  it("takes the passkeys that it registered with it, and no other", async () => {
    const { person, own, link } = await stage();
    await addPasskey(service, person);
    await addPasskey(service, { userId: person.userId, ...link });
    expect(await unlinkSelf(service, own.session, link)).toBe("unlinked");
    const left = await service.prisma.passkey.findMany({ where: { userId: person.userId } });
    expect(left).toMatchObject([{ iss: person.iss, sub: person.sub }]);
    expect(await eventOf(link.sub)).toMatchObject({ data: { removedPasskeys: 1 } });
  });
});

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { MintAnswer } from "@/lib/approvals/mint-answer";
import { linkIdentity } from "@/lib/users/link";
import { unlinkIdentity } from "@/lib/users/unlink";
import { addPerson, addTestClient, mintApproval, mintBody, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

const cli = { kind: "admin", via: "cli" } as const;
const iss = "https://as.example.com";
const warning = ["subject_never_signed_in"];

let t: TestService;
let client: TestClient;

beforeAll(async () => {
  t = await createTestService();
  client = await addTestClient(t.service, { issuers: [iss, t.service.issuer] });
});
afterAll(() => t.stop());

it("a mint warns where its subject never signed in here: unknown ones, and accounts that nobody has used", async () => {
  const unused = await addPerson(t.service, "Unused");
  for (const subject of [unused, { iss, sub: randomUUID() }, { iss: t.service.issuer, sub: "usr_nobody" }])
    expect((await mintApproval(client, subject)).warnings).toEqual(warning);
});

it("it warns no more once the person has signed in, and it is minted all the same before", async () => {
  const person = await addPerson(t.service, "Late");
  const { id, status, warnings } = await mintApproval(client, person);
  expect([status, warnings]).toEqual(["pending", warning]);
  await signIn(t.service, person);
  expect(await mintApproval(client, person)).not.toHaveProperty("warnings");
  expect((await client.api("GET", `/approvals/${id}`)).status).toBe(200);
});

it("a linked subject is known as soon as its user is, whatever they signed in as, and only while it is linked", async () => {
  const person = await addPerson(t.service, "Linked");
  const subject = { iss, sub: randomUUID() };
  await linkIdentity(t.service, { user: person.email, ...subject }, cli);
  expect((await mintApproval(client, subject)).warnings).toEqual(warning);
  await signIn(t.service, person);
  expect(await mintApproval(client, subject)).not.toHaveProperty("warnings");
  await unlinkIdentity(t.service, { user: person.email, ...subject }, cli);
  expect((await mintApproval(client, subject)).warnings).toEqual(warning);
});

it("the sign-in of somebody else with the same sub at another issuer makes nobody known", async () => {
  const person = await addPerson(t.service, "Namesake");
  await signIn(t.service, person);
  expect((await mintApproval(client, { iss, sub: person.sub })).warnings).toEqual(warning);
});

it("an answer that is replayed or reused warns of how it is now, not of how it was", async () => {
  const person = await addPerson(t.service, "Again");
  const ask = async (body: object, headers: Record<string, string> = {}) => {
    const response = await client.api("POST", "/approvals", mintBody(person, { ...body }), headers);
    const { id, warnings } = (await response.json()) as MintAnswer;
    return { status: response.status, id, warnings };
  };
  const key = { "Idempotency-Key": randomUUID() };
  const reuse = { reuse: "live", action: { tool: "reused", arguments: {} } };
  const [minted, live] = [await ask({}, key), await ask(reuse)];
  expect([minted.warnings, live.warnings]).toEqual([warning, warning]);
  expect(await ask({}, key)).toMatchObject({ id: minted.id, warnings: warning });
  expect(await ask(reuse)).toEqual({ status: 200, id: live.id, warnings: warning });
  await signIn(t.service, person);
  expect(await ask({}, key)).toMatchObject({ id: minted.id, warnings: undefined });
  expect(await ask(reuse)).toEqual({ status: 200, id: live.id, warnings: undefined });
  // The other way round: what was minted for somebody known.
  expect((await ask({ action: { tool: "new", arguments: {} } })).warnings).toBeUndefined();
});

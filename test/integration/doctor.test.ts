import { randomBytes, randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freezeClient, unfreezeClient } from "@/lib/clients/freeze";
import { parseProviders } from "@/lib/oidc/parse-providers";
import { disableUser, enableUser } from "@/lib/users/disable";
import { explainSubject } from "@/lib/users/explain-subject";
import { macOfIdentity } from "@/lib/users/identity";
import { linkIdentity } from "@/lib/users/link";
import { addPerson, addTestClient, mintApproval, type Person, signIn } from "@/test/support/actors";
import { commandLine } from "@/test/support/command-line";
import { createTestService, type TestService } from "@/test/support/database";
import { decideAs } from "@/test/support/deciding";
import { addPasskey } from "@/test/support/passkeys";

const cli = { kind: "admin", via: "cli" } as const;
const corp = "https://login.corp.example";
const closed = "https://closed.example/tenant";
const mapped = "https://as.mapped.example";
const unserved = "https://as.unserved.example";

const settings = JSON.stringify(
  [
    { id: "corp", label: "Corp", issuer: corp },
    { id: "closed", label: "Closed", issuer: closed, createUsers: false },
    { id: "mapped", label: "Mapped", issuer: "https://login.mapped.example", subjectIssuer: mapped },
  ].map((provider) => ({ ...provider, clientId: "countersign", clientSecret: "a-secret-of-a-test" })),
);
const secret = new Uint8Array(randomBytes(32));

let t: TestService;

beforeAll(async () => {
  const { providers, faults } = parseProviders({ OIDC_PROVIDERS: settings });
  expect(faults).toEqual([]);
  t = await createTestService({ oidcProviders: providers, secret });
  await addTestClient(t.service, { issuers: [t.service.issuer, corp, closed, mapped, unserved] });
});
afterAll(() => t.stop());

const explain = (iss: string, sub: string) => explainSubject(t.service, { iss, sub });
const kindsOf = ({ remarks }: { remarks: { kind: string }[] }) => remarks.map(({ kind }) => kind);

/** As a sign-in or a self-service link would write it. */
async function addIdentity(person: Person, iss: string, linkedBy: string, sub = randomUUID()) {
  const row = { iss, sub, userId: person.userId, mayApprove: linkedBy === "sign_in", linkedBy };
  await t.service.prisma.identity.create({ data: { ...row, mac: macOfIdentity(t.service.secrets, row) } });
  return { iss, sub };
}

/** A user as the first sign-in at a provider makes them. */
async function addSignedInUser(iss: string) {
  const userId = `usr_${randomUUID()}`;
  await t.service.prisma.user.create({ data: { id: userId, name: "Olga", contact: "olga@corp.example" } });
  const person = { userId, email: "", iss, sub: randomUUID() };
  return { ...person, ...(await addIdentity(person, iss, "sign_in", person.sub)) };
}

describe("somebody who can decide", () => {
  it("a local account: by its password and its passkeys", async () => {
    const person = await addPerson(t.service, "Local");
    const unused = await explain(person.iss, person.sub);
    expect(unused).toMatchObject({
      canDecide: true,
      obstacles: [],
      user: { userId: person.userId, account: person.email, isDisabled: false, linkedBy: "self" },
      ways: [{ kind: "password", decides: true }],
    });
    expect(kindsOf(unused)).toEqual(["never_signed_in"]);
    await signIn(t.service, person);
    await addPasskey(t.service, person);
    await addPasskey(t.service, person);
    const used = await explain(person.iss, person.sub);
    expect(used.ways).toMatchObject([{ kind: "password" }, { kind: "passkeys", count: 2, decides: true }]);
    expect(used.remarks).toEqual([]);
  });

  it("somebody of a provider who was never here, where a first sign-in makes a user", async () => {
    const report = await explain(corp, "new-one");
    expect(report).toMatchObject({
      canDecide: true,
      user: undefined,
      ways: [{ kind: "provider", id: "corp", label: "Corp", decides: true }],
      remarks: [{ kind: "made_at_first_sign_in", label: "Corp" }],
    });
  });

  it("a linked subject: however its user signs in", async () => {
    const person = await addPerson(t.service, "Linked");
    await linkIdentity(t.service, { user: person.email, iss: unserved, sub: "s-1" }, cli);
    expect(await explain(unserved, "s-1")).toMatchObject({
      canDecide: true,
      user: { userId: person.userId, linkedBy: "admin" },
      ways: [{ kind: "password", iss: person.iss, sub: person.sub, decides: true }],
    });
  });

  it("a self-service link to a provider: only when signed in as it", async () => {
    const person = await addPerson(t.service, "Self");
    const { iss, sub } = await addIdentity(person, corp, "self_service");
    const report = await explain(iss, sub);
    expect(report).toMatchObject({
      canDecide: true,
      ways: [
        { kind: "password", decides: false },
        { kind: "provider", label: "Corp", decides: true },
      ],
    });
    expect(kindsOf(report)).toContain("decides_only_as_itself");
  });
});

describe("somebody who could not decide, and why", () => {
  it.each([
    ["an issuer that nobody signs in under", "https://unknown.example", "x", ["issuer_unknown"]],
    ["an account that this service does not have", "http://localhost:3000", "usr_nobody", ["no_such_account"]],
    ["a provider that makes no users", closed, "stranger", ["no_new_users"]],
  ])("%s", async (_name, iss, sub, obstacles) => {
    expect(await explain(iss, sub)).toMatchObject({ canDecide: false, obstacles, user: undefined });
  });

  it("a disabled user, for every subject of theirs", async () => {
    const person = await addPerson(t.service, "Disabled");
    await linkIdentity(t.service, { user: person.email, iss: unserved, sub: "s-2" }, cli);
    await disableUser(t.service, person.email, cli);
    for (const [iss, sub] of [
      [person.iss, person.sub],
      [unserved, "s-2"],
    ] as const)
      expect(await explain(iss, sub)).toMatchObject({
        canDecide: false,
        obstacles: ["disabled"],
        user: { isDisabled: true },
      });
    await enableUser(t.service, person.email, cli);
    expect((await explain(unserved, "s-2")).canDecide).toBe(true);
  });

  it("I17: an identity that was not written with the secret", async () => {
    const person = await addPerson(t.service, "Forged");
    await linkIdentity(t.service, { user: person.email, iss: unserved, sub: "s-3" }, cli);
    await t.service.pool.query(`UPDATE "identity" SET "mac" = '\\x00' WHERE "sub" = 's-3'`);
    expect(await explain(unserved, "s-3")).toMatchObject({ canDecide: false, obstacles: ["not_authentic"] });
    await t.service.pool.query(`UPDATE "identity" SET "mac" = '\\x00' WHERE "sub" = $1`, [person.sub]);
    const own = await explain(person.iss, person.sub);
    // By password they are signed in as themselves, whatever stands in that row.
    expect([own.canDecide, kindsOf(own)]).toEqual([true, ["never_signed_in", "not_authentic"]]);
    const olga = await addSignedInUser(corp);
    await t.service.pool.query(`UPDATE "identity" SET "mac" = '\\x00' WHERE "sub" = $1`, [olga.sub]);
    expect(await explain(corp, olga.sub)).toMatchObject({
      canDecide: false,
      obstacles: ["not_authentic", "no_way_to_sign_in"],
    });
  });

  it("a self-service link that nobody can sign in with any more", async () => {
    const person = await addPerson(t.service, "Orphan");
    const { iss, sub } = await addIdentity(person, unserved, "self_service");
    expect(await explain(iss, sub)).toMatchObject({ canDecide: false, obstacles: ["only_as_itself"] });
  });

  it("a user of a provider that is configured no more, unless they have a passkey", async () => {
    const olga = await addSignedInUser(unserved);
    expect(await explain(unserved, olga.sub)).toMatchObject({ canDecide: false, obstacles: ["no_way_to_sign_in"] });
    await addPasskey(t.service, olga);
    expect(await explain(unserved, olga.sub)).toMatchObject({
      canDecide: true,
      user: { account: "olga@corp.example" },
      ways: [{ kind: "passkeys", count: 1 }],
    });
  });
});

describe("near misses are remarked on, and never taken", () => {
  it.each([
    [`${corp}/`, corp],
    ["https://LOGIN.corp.example", corp],
    ["http://login.corp.example", corp],
    ["https://login.corp.example:443", corp],
    [` ${corp}`, corp],
    [`${corp}/.well-known/openid-configuration`, corp],
    [`${closed}/`, closed],
  ])("%s is not %s", async (iss, similar) => {
    const report = await explain(iss, "somebody");
    expect(report).toMatchObject({ canDecide: false, obstacles: ["issuer_unknown"] });
    expect(report.remarks).toContainEqual({ kind: "similar_issuer", iss: similar });
  });

  it("an issuer with another path is another issuer, and no near miss", async () => {
    expect(kindsOf(await explain(`${closed}/other`, "x"))).not.toContain("similar_issuer");
    expect(kindsOf(await explain(corp, "x"))).not.toContain("similar_issuer");
  });

  it("the issuer of a provider whose people carry another one", async () => {
    const report = await explain("https://login.mapped.example", "x");
    expect(report.canDecide).toBe(false);
    expect(report.remarks).toContainEqual({ kind: "issuer_of_provider", label: "Mapped", subjectIssuer: mapped });
    expect((await explain(mapped, "x")).canDecide).toBe(true);
  });

  it("a subject in other letters, with space around, or at another issuer; an address in its place", async () => {
    const person = await addPerson(t.service, "Names");
    await linkIdentity(t.service, { user: person.email, iss: unserved, sub: "User_456" }, cli);
    for (const sub of ["user_456", " User_456"])
      expect((await explain(unserved, sub)).remarks).toContainEqual({ kind: "similar_sub", sub: "User_456" });
    expect(kindsOf(await explain(unserved, "userX456"))).not.toContain("similar_sub");
    expect((await explain(corp, "User_456")).remarks).toContainEqual({
      kind: "same_sub_elsewhere",
      iss: unserved,
      userId: person.userId,
    });
    expect((await explain(person.iss, person.email.toUpperCase())).remarks).toContainEqual({
      kind: "address_as_sub",
      sub: person.sub,
    });
  });
});

describe("what stands between a client and this person", () => {
  it("no client that asks, a freeze of theirs or for everybody, a passkey that they do not have", async () => {
    const person = await addPerson(t.service, "Asked");
    const { session } = await signIn(t.service, person);
    expect(kindsOf(await explain("https://nobody-asks.example", "x"))).toEqual(["no_client_asks"]);
    const client = await addTestClient(t.service);
    const about = async () =>
      (await explain(person.iss, person.sub)).remarks.filter(
        (remark) => "clientId" in remark && remark.clientId === client.clientId,
      );
    expect(await about()).toEqual([]);
    await freezeClient(t.service, client.clientId, cli);
    expect(await about()).toEqual([{ kind: "frozen", clientId: client.clientId, name: "CRM server" }]);
    await unfreezeClient(t.service, client.clientId, cli);
    const { id } = await mintApproval(client, person);
    await decideAs(t.service, session, id, "not_requested");
    expect(await about()).toMatchObject([{ kind: "frozen", until: expect.any(Date) }]);
    const strict = await addTestClient(t.service, {
      default: { passkey: "required" },
      perTool: [{ tool: "wipe", passkey: "required" }],
    });
    const needs = { kind: "passkey_needed", clientId: strict.clientId, name: "CRM server", tools: ["*", "wipe"] };
    expect((await explain(person.iss, person.sub)).remarks).toContainEqual(needs);
    await addPasskey(t.service, person);
    expect((await explain(person.iss, person.sub)).remarks).not.toContainEqual(needs);
  });
});

describe("countersign doctor subject", () => {
  vi.setConfig({ testTimeout: 180_000 });

  it("tells people in sentences and programs in JSON, exits with 1 where they could not decide, and draws what is hidden", async () => {
    const { run } = commandLine({
      DATABASE_URL: t.databaseUrl,
      COUNTERSIGN_SECRET: Buffer.from(secret).toString("hex"),
      COUNTERSIGN_URL: t.service.config.url,
      OIDC_PROVIDERS: settings,
    });
    const person = await addPerson(t.service, "Cli");
    const good = await run(["doctor", "subject", person.iss, person.sub]);
    expect(good).toMatchObject({ code: 0, stderr: "" });
    expect(good.stdout).toContain(`is ${person.userId} (${person.email}): a local account of this service.`);
    expect(good.stdout).toContain("They can decide what is asked of them.");
    const bad = await run(["doctor", "subject", `${corp}/`, "x\u202Ey"]);
    expect(bad).toMatchObject({ code: 1, stderr: "" });
    expect(bad.stdout).toContain(`${corp} is known here; ${corp}/ is not ${corp}`);
    expect(bad.stdout).toContain("x[U+202E]y");
    const asJson = await run(["doctor", "subject", `${corp}/`, "x", "--json"]);
    expect(asJson.code).toBe(1);
    expect(JSON.parse(asJson.stdout)).toEqual({
      iss: `${corp}/`,
      sub: "x",
      canDecide: false,
      obstacles: ["issuer_unknown"],
      remarks: [{ kind: "similar_issuer", iss: corp }, { kind: "no_client_asks" }],
      user: null,
      ways: [],
    });
  });
});

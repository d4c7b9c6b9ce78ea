import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import type { Service } from "@/lib/process";
import { addPerson, addTestClient, mintApproval, mintBody, signIn } from "../support/actors";
import { codeOf } from "../support/codes";
import { type CommandLine, commandLine } from "../support/command-line";
import { createTestService } from "../support/database";
import { decideAs } from "../support/deciding";

const foreign = "https://login.example.com";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let cli: CommandLine;
let service: Service;
let stop: () => Promise<void>;

beforeAll(async () => {
  const secret = randomBytes(32);
  const started = await createTestService({ secret });
  ({ service, stop } = started);
  cli = commandLine({
    DATABASE_URL: started.databaseUrl,
    COUNTERSIGN_SECRET: secret.toString("hex"),
    COUNTERSIGN_URL: service.config.url,
  });
});
afterAll(() => stop());

describe("countersign users", () => {
  it("links, lists and unlinks a user's identities, by address or id, and says when there was nothing to do", async () => {
    const person = await addPerson(service, "Linked");
    const named = ["--iss", foreign, "--sub", "user_456"];
    const link = { userId: person.userId, iss: foreign, sub: "user_456" };
    expect(await cli.ask(["users", "link", person.userId, ...named])).toEqual({ ...link, changed: true });
    const listed = await cli.ask(["users", "identities", person.email]);
    expect(listed).toMatchObject({
      userId: person.userId,
      identities: [
        { sub: person.sub, linkedBy: "self", isAuthentic: true },
        { sub: "user_456", linkedBy: "admin", isAdminLink: true, lastSignInAt: null },
      ],
    });
    const { stdout } = await cli.run(["users", "identities", person.email]);
    expect(stdout).toContain(`user_456 at ${foreign}  linked by an admin: may decide; never signed in`);
    const gone = { ...link, endedSessions: 0, removedPasskeys: 0 };
    expect(await cli.ask(["users", "unlink", person.email, ...named])).toEqual({ ...gone, changed: true });
    expect(await cli.ask(["users", "unlink", person.email, ...named])).toEqual({ ...gone, changed: false });
    const refused = await cli.fail(["users", "unlink", person.email, "--iss", person.iss, "--sub", person.sub]);
    expect(refused).toMatchObject({ code: 1, error: { code: "invalid_request" } });
  });
});

describe("countersign clients", () => {
  it("lists what people have frozen for themselves and lifts it, for a person or one by one", async () => {
    const client = await addTestClient(service);
    const { clientId } = client;
    const [ada, bob] = [await addPerson(service, "Ada"), await addPerson(service, "Bob")];
    for (const person of [ada, bob]) {
      const { session } = await signIn(service, person);
      const { id } = await mintApproval(client, person);
      await decideAs(service, session, id, "not_requested");
    }
    type Listed = { freezes: { freezeId: string; user: { userId: string } }[] };
    const { freezes } = await cli.ask<Listed>(["clients", "freezes", clientId]);
    expect(freezes.map(({ user }) => user.userId).sort()).toEqual([ada.userId, bob.userId].sort());
    const idOf = (userId: string) => freezes.find(({ user }) => user.userId === userId)?.freezeId ?? "";
    const unfreeze = ["clients", "unfreeze", clientId];
    // Nobody's own freeze is lifted by lifting that for everybody.
    expect(await cli.ask(unfreeze)).toEqual({ clientId, changed: false });
    expect(await cli.ask([...unfreeze, "--person", ada.email])).toEqual({
      clientId,
      userId: ada.userId,
      changed: true,
      lifted: [idOf(ada.userId)],
    });
    const freezeId = idOf(bob.userId);
    expect(await cli.ask([...unfreeze, "--freeze", freezeId])).toEqual({ clientId, freezeId, changed: true });
    expect(await cli.ask([...unfreeze, "--freeze", freezeId])).toEqual({ clientId, freezeId, changed: false });
    expect(await cli.ask(["clients", "freezes", clientId])).toEqual({ freezes: [] });
    const body = (person: typeof ada) => mintBody(person, { action: { tool: "again", arguments: {} } });
    for (const person of [ada, bob])
      expect(await codeOf(client.api("POST", "/approvals", body(person)))).toEqual([201, "ok"]);
    const both = await cli.fail([...unfreeze, "--person", ada.email, "--freeze", freezeId]);
    expect(both).toMatchObject({ code: 2, error: { code: "usage" } });
    expect(await cli.fail([...unfreeze, "--freeze", "frz_none"])).toMatchObject({ error: { code: "not_found" } });
  });
});

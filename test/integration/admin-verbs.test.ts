import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { addClient } from "@/lib/clients/add";
import { freezeClient } from "@/lib/clients/freeze";
import { setPolicy } from "@/lib/clients/set-policy";
import type { Service } from "@/lib/process";
import { addUser } from "@/lib/users/add";
import { authenticate } from "@/lib/users/authenticate";
import { addPerson, addTestClient, mintApproval, password } from "../support/actors";
import { createTestService } from "../support/database";

const actor = { kind: "admin", via: "cli" } as const;

let service: Service;
let databaseUrl: string;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ service, databaseUrl, stop } = await createTestService());
});
afterAll(() => stop());

it("of two that add the same address at once one is added, and the other is told that it is taken", async () => {
  for (let round = 0; round < 10; round += 1) {
    const user = { email: `same-${round}@example.com`, name: "Ada", password };
    const added = await Promise.allSettled([addUser(service, user, actor), addUser(service, user, actor)]);
    const refusals = added.filter((result) => result.status === "rejected");
    expect(refusals).toMatchObject([{ reason: { code: "invalid_request" } }]);
  }
});

it("takes no address for another one: a letter that only lower case makes ASCII is refused", async () => {
  const user = { email: "\u212Aim@example.com", name: "Kim", password };
  await expect(addUser(service, user, actor)).rejects.toMatchObject({ code: "invalid_request" });
});

it("takes a password with a wide space for the one with a plain space (RFC 8265 section 4.2)", async () => {
  const { email, userId } = await addPerson(service, "Space");
  const typed = password.replaceAll(" ", "\u3000");
  expect(await authenticate(service, email, typed)).toMatchObject({ id: userId });
});

it("I16: a change of one default rule of a policy loosens none of the others", async () => {
  const { clientId } = await addClient(service, { name: "CRM" }, actor);
  await setPolicy(service, clientId, { default: { matchCode: true, maxAuthAgeSeconds: 60 } }, actor);
  const { policy } = await setPolicy(service, clientId, { default: { maxTtlSeconds: 600 } }, actor);
  expect(policy.default).toMatchObject({ matchCode: true, maxAuthAgeSeconds: 60, maxTtlSeconds: 600 });
  for (const rules of [null, [], "off", { colour: "red" }]) {
    const refused = setPolicy(service, clientId, { default: rules }, actor);
    await expect(refused).rejects.toMatchObject({ code: "invalid_request" });
  }
});

it("freezing one client does not hold up another while its approvals are being withdrawn", async () => {
  const limits = { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 1_000 };
  const frozen = await addTestClient(service, limits);
  const other = await addTestClient(service, limits);
  const person = await addPerson(service, "Mia");
  const count = 200;
  const action = (i: number) => ({ action: { tool: "t", arguments: { i } } });
  await Promise.all(Array.from({ length: count }, (_, i) => mintApproval(frozen, person, action(i))));
  let isFreezing = true;
  const freezing = freezeClient(service, frozen.clientId, actor).finally(() => {
    isFreezing = false;
  });
  let minted = 0;
  while (isFreezing) {
    await mintApproval(other, person, action(minted));
    minted += 1;
  }
  expect((await freezing).withdrawn).toHaveLength(count);
  // One may have waited for the table, and one may have ended after it; the rest went on beside it.
  expect(minted).toBeGreaterThan(3);
});

it("reads the password as soon as its line is there, from a pipe that stays open", async () => {
  const launcher = path.resolve(import.meta.dirname, "../../cli/countersign.mjs");
  const child = spawn(
    process.execPath,
    [launcher, "users", "add", "--email", "pipe@example.com", "--name", "P", "--json"],
    {
      env: {
        PATH: process.env["PATH"],
        NODE_ENV: "production",
        DATABASE_URL: databaseUrl,
        COUNTERSIGN_URL: service.config.url,
        COUNTERSIGN_SECRET: Buffer.from(service.config.secret ?? []).toString("hex"),
      },
      stdio: ["pipe", "ignore", "ignore"],
    },
  );
  try {
    child.stdin.write(`${password}\n`);
    const [code] = await once(child, "exit");
    expect(code).toBe(0);
  } finally {
    child.kill();
  }
  expect(await authenticate(service, "pipe@example.com", password)).toMatchObject({ email: "pipe@example.com" });
});

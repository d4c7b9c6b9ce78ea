import { afterAll, beforeAll, expect, it } from "vitest";
import { freezeClient, unfreezeClient } from "@/lib/clients/freeze";
import type { Service } from "@/lib/process";
import { addPerson, addTestClient, mintBody } from "../support/actors";
import { createTestService } from "../support/database";

const actor = { kind: "admin", via: "cli" } as const;

let service: Service;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ service, stop } = await createTestService());
});
afterAll(() => stop());

it("I8: no mint that races with a freeze leaves anything live behind", async () => {
  const people = await Promise.all(["R1", "R2", "R3", "R4"].map((name) => addPerson(service, name)));
  const limits = { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 100_000 };
  const { clientId, api } = await addTestClient(service, limits);
  for (let round = 0; round < 10; round += 1) {
    const mints = people.flatMap((person) => [1, 2, 3].map(() => api("POST", "/approvals", mintBody(person))));
    await mints[round]; // so that each round is frozen at another moment
    await freezeClient(service, clientId, actor);
    await Promise.all(mints);
    expect(await service.prisma.approval.count({ where: { clientId, status: "pending" } })).toBe(0);
    await unfreezeClient(service, clientId, actor);
  }
  expect(await service.prisma.approval.count({ where: { clientId, reason: "frozen" } })).toBeGreaterThanOrEqual(10);
});

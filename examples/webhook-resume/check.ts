import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createApiClient } from "@countersign/mcp";
import { ERAS } from "../support/agent";
import type { Setting } from "../support/setting";
import { acceptedBody, type ExampleProjects, newSecret, type Process, type Webhooks, withProcess } from "./process";

/** A tool that answers at once: no forged, foreign, old or repeated event makes it run, and the real one makes it run once. */
export async function check(setting: Setting & { webhooks?: Webhooks }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "webhook-resume-"));
  try {
    for (const [index, era] of ERAS.entries()) {
      const play = { setting, era, file: join(folder, `jobs-${index}.json`), projects: openProjects() };
      await withProcess(play, runsOnce);
      await withProcess(play, declined);
      const approved = await withProcess(play, approvedAndDied);
      await withProcess(play, (process) => swept(process, approved));
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Forged events first, then the real one: it runs once. */
async function runsOnce(process: Process): Promise<void> {
  const { agent, projects, jobs, ask, person, post, arrival } = process;
  const asked = await ask(projects.ids[0]);
  const { id } = asked;
  assert.ok(asked.text.includes(`/a/${id}`), "it is answered at once, with the link");
  assert.equal((await jobs.open()).length, 1);

  assert.equal(await post(acceptedBody(id), { secret: newSecret() }), 400, "signed with another secret");
  assert.equal(await post(acceptedBody(id), { timestamp: now() - 3600 }), 400, "an hour old");
  assert.equal(await post(acceptedBody(id), { sent: acceptedBody(id, 7) }), 400, "changed on its way");
  assert.equal(await process.postForeign(), 204, "of an approval that was asked for elsewhere");
  assert.equal(await post(acceptedBody(`apr_${"0".repeat(26)}`)), 204, "of an id that nobody has minted");
  assert.equal(await post(acceptedBody(id)), 204, "says that it is accepted, and it is not");
  assert.deepEqual(projects.deletedBy, [], "none of them runs anything");
  const status = await agent.call("request_status", { reference: id });
  assert.equal(status.text, "It has not run yet.");

  await arrival(id, "accepted", () => person(asked, "accept"));
  assert.deepEqual(projects.deletedBy, [id], "the real one runs it");
  // The same event again, one from before, and what comes after a run.
  for (const seq of [2, 1]) assert.equal(await post(acceptedBody(id, seq)), 204);
  for (const type of ["outcome", "consumed"]) assert.equal(await post(acceptedBody(id, 9, type)), 204);
  assert.deepEqual(projects.deletedBy, [id], "and runs it once");
  const done = await agent.call("request_status", { reference: id });
  assert.equal(done.text, "Deleted Apollo.");
}

/** A decline, and an accept that is said to have come after it. */
async function declined({ projects, jobs, ask, person, post, arrival }: Process): Promise<void> {
  const before = projects.deletedBy.length;
  const asked = await ask(projects.ids[1]);
  const { id } = asked;
  await arrival(id, "declined", () => person(asked, "decline"));
  assert.equal(await post(acceptedBody(id, 3)), 204);
  assert.equal(projects.deletedBy.length, before);
  assert.ok(jobs.look(id)?.end?.text.includes("declined it"));
}

/** Two are approved while nobody listens; of one an attempt had been granted the run, and died. */
async function approvedAndDied(process: Process): Promise<Approved> {
  const { ask, person, receiver, setting, projects, jobs } = process;
  const lost = await ask(projects.ids[2]);
  const died = await ask(projects.ids[3]);
  const before = projects.deletedBy.length;
  await receiver.close();
  await person(lost, "accept");
  await person(died, "accept");
  const job = await jobs.find(died.id);
  assert(job !== undefined);
  await createApiClient(setting).consume(job.approvalId, {
    caller: job.caller,
    action: { tool: job.tool, arguments: job.arguments },
    preconditions: { name: projects.names.get(projects.ids[3]) },
    consumerToken: randomBytes(32).toString("base64url"),
  });
  assert.equal(projects.deletedBy.length, before);
  return { lost: lost.id, died: died.id };
}

type Approved = { lost: string; died: string };

/** The next process looks after every open job at its start, before any event arrives. */
async function swept({ projects, jobs, atStart, post }: Process, { lost, died }: Approved): Promise<void> {
  assert.deepEqual(
    atStart.map((resumed) => [resumed.approvalId, resumed.kind]),
    [
      [lost, "ended"],
      [died, "started"],
    ],
  );
  assert.ok(projects.deletedBy.includes(lost), "what no event told runs all the same");
  assert.ok(projects.names.has(projects.ids[3]), "what another attempt was granted is not run again");
  for (const id of [lost, died]) assert.equal(await post(acceptedBody(id)), 204, "the event comes late");
  assert.equal(projects.deletedBy.filter((id) => id === lost).length, 1);
  assert.ok(projects.names.has(projects.ids[3]));
  assert.equal(jobs.look(died)?.end, undefined, "until the service says what became of it");
}

/** Under new ids, so that nothing of a run before is found again. */
function openProjects(): ExampleProjects {
  const mark = randomBytes(4).toString("hex");
  const ids = [`apollo_${mark}`, `borealis_${mark}`, `corona_${mark}`, `dawn_${mark}`] as const;
  const names = new Map<string, string>([
    [ids[0], "Apollo"],
    [ids[1], "Borealis"],
    [ids[2], "Corona"],
    [ids[3], "Dawn"],
  ]);
  return { ids, names, deletedBy: [] };
}

const now = () => Math.floor(Date.now() / 1000);

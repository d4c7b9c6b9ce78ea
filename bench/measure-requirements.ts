import type { MintAnswer } from "@/lib/approvals/mint-answer";
import { readApproval } from "@/lib/approvals/store";
import { csrfToken } from "@/lib/sessions/csrf";
import { password, signIn } from "@/test/support/actors";
import { addPasskey } from "@/test/support/passkeys";
import type { SoftwareAuthenticator } from "@/test/support/software-authenticator";
import { mintBody } from "./calls";
import { clickCall } from "./click";
import { type Connection, openConnection } from "./connection";
import { type Figure, ms, times } from "./figure";
import { median } from "./load";
import { type Sent, sendJson } from "./send";
import { at, type BenchPerson, type BenchStage } from "./stage";

const warmUp = 20;
const samples = 200;
/** Each makes the server hash for tens of milliseconds. */
const passwordSamples = 40;

/**
 * What the server spends on what an approval can require of its person, beyond the box that is ticked where nothing else is: one request
 * after another, each as the browser would send it; a passkey answers at once, so that no person's time is in the figures.
 */
export async function measureRequirements(stage: BenchStage): Promise<Figure> {
  const connection = await openConnection(stage.server.url);
  const run = (count: number, once: (person: BenchPerson, i: number) => Promise<number>) =>
    medianOf(stage, count, once);
  const keys = new Map<string, SoftwareAuthenticator>();
  for (const person of stage.people) keys.set(person.userId, await addPasskey(stage.service, person));
  const box = await run(samples, (person, i) => decideOnce(stage, connection, person, i, { matchCode: false }));
  const code = await run(samples, (person, i) => decideOnce(stage, connection, person, i, { matchCode: true }));
  const passkey = await run(samples, (person, i) => signOnce(stage, connection, person, i, keys.get(person.userId)));
  const stepUp = await run(passwordSamples, (person, i) => stepUpOnce(stage, connection, person, i));
  connection.close();
  return {
    name: "requirements",
    value: `box ${ms(box)}; confirmation code ${ms(code)}; passkey ${ms(passkey)} (its question and its answer); password again ${ms(stepUp)}`,
    baseline: "the box",
    ratio: `code ${times(code / box)}, passkey ${times(passkey / box)}, password ${times(stepUp / box)}`,
  };
}

async function medianOf(
  stage: BenchStage,
  count: number,
  once: (person: BenchPerson, i: number) => Promise<number>,
): Promise<number> {
  const taken: number[] = [];
  for (let i = 0; i < warmUp + count; i += 1) {
    const took = await once(at(stage.people, i), i);
    if (i >= warmUp) taken.push(took);
  }
  return median(taken);
}

async function mintWith(stage: BenchStage, person: BenchPerson, i: number, requirements: object): Promise<MintAnswer> {
  const body = JSON.stringify({ ...JSON.parse(mintBody(person)), requirements });
  const client = at(stage.clients, i);
  return sendJson<MintAnswer>({ method: "POST", url: client.approvalsUrl, headers: client.headers, body }, 201);
}

async function decideOnce(
  stage: BenchStage,
  connection: Connection,
  person: BenchPerson,
  i: number,
  requirements: object,
): Promise<number> {
  const { id, matchCode } = await mintWith(stage, person, i, requirements);
  const click = await clickCall(stage.service, person, stage.server.url, id);
  const body = matchCode === undefined ? click.body : `${click.body}&code=${matchCode}`;
  const { took } = await timed(connection, { ...click, body: body ?? "" }, 303);
  await requireAccepted(stage, id);
  return took;
}

/** A refusal is answered with 303 too: it must not pass for speed. */
async function requireAccepted(stage: BenchStage, id: string): Promise<void> {
  const read = await readApproval(stage.service.pool, id);
  if (read?.approval.status !== "accepted") throw new Error(`${id} is ${read?.approval.status}`);
}

async function signOnce(
  stage: BenchStage,
  connection: Connection,
  person: BenchPerson,
  i: number,
  key: SoftwareAuthenticator | undefined,
): Promise<number> {
  if (!key) throw new Error("the person has no passkey");
  const { id } = await mintWith(stage, person, i, { matchCode: false, passkey: "required" });
  const click = await clickCall(stage.service, person, stage.server.url, id);
  const asked = await timed(connection, { ...click, url: `${stage.server.url}/a/${id}/challenge` }, 200);
  const { question } = JSON.parse(asked.text) as { question: { challenge: string } };
  const answer = JSON.stringify(key.get(question.challenge));
  const answered = { ...click, body: `${click.body}&${new URLSearchParams({ passkey: answer })}` };
  const { took } = await timed(connection, answered, 303);
  await requireAccepted(stage, id);
  return asked.took + took;
}

async function stepUpOnce(stage: BenchStage, connection: Connection, person: BenchPerson, i: number): Promise<number> {
  const { id } = await mintWith(stage, person, i, { matchCode: false });
  const { session, cookie } = await signIn(stage.service, person);
  const click = await clickCall(stage.service, { ...person, session, cookie }, stage.server.url, id);
  const csrf = csrfToken(stage.service.secrets, { sid: session.sid, purpose: "step_up", target: id });
  const url = `${stage.server.url}/a/${id}/sign-in-again/submit`;
  const { took } = await timed(
    connection,
    { ...click, url, body: new URLSearchParams({ csrf, password }).toString() },
    303,
  );
  const old = await stage.service.prisma.session.findUnique({ where: { sid: session.sid } });
  if (!old?.revokedAt) throw new Error("the step-up was refused");
  return took;
}

async function timed(connection: Connection, sent: Sent, status: number) {
  const sentAt = performance.now();
  const answer = await connection.ask(sent);
  const took = performance.now() - sentAt;
  if (answer.status !== status) throw new Error(`${sent.url} answered ${answer.status}: ${answer.text}`);
  return { took, text: answer.text };
}

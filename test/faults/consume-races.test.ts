import { createHash, randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Connection, openConnection } from "@/bench/connection";
import { requireValidKey } from "@/lib/api-keys/require-valid";
import { mint } from "@/lib/approvals/mint";
import { commitChange, readApproval } from "@/lib/approvals/store";
import { transition } from "@/lib/approvals/transitions";
import { signReceipt } from "@/lib/receipts/sign";
import { verifyRecord } from "@/lib/records/verify";
import { buildView } from "@/lib/views/build";
import { viewDigestOf } from "@/lib/views/stamp";
import type { ServerProcess } from "@/scripts/server-process";
import { addPerson, addTestClient, type Person, signIn, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";
import { startServer } from "@/test/support/server";

const raceCount = Number(process.env["FAULT_RACES"] ?? 10_000);
/** Races at the same time; each has a connection for each of at most four attempts, every other one to the other replica. */
const lanes = 16;
const attemptsMax = 4;
const peopleCount = 50;

type Racer = Person & Awaited<ReturnType<typeof signIn>>;
type Raced = { id: string; person: Racer; winner: string | undefined };

let t: TestService;
let servers: ServerProcess[];
let client: TestClient;
let people: Racer[];
const connections: Connection[] = [];
const raced: Raced[] = [];
const faults: string[] = [];
const counts = { consumes: 0, granted: 0, replayed: 0, refused: 0 };

beforeAll(async () => {
  const secret = randomBytes(32);
  t = await createTestService({ secret: new Uint8Array(secret), logLevel: "warn" });
  const shared = { databaseUrl: t.databaseUrl, secret: secret.toString("hex"), env: { LOG_LEVEL: "warn" } };
  const url = { env: { ...shared.env, COUNTERSIGN_URL: t.service.config.url } };
  servers = await Promise.all([startServer({ ...shared, ...url }), startServer({ ...shared, ...url })]);
  client = await addTestClient(t.service, { maxPendingPerSubject: 1_000, maxMintsPerSubjectPerHour: 10_000 });
  people = await Promise.all(
    Array.from({ length: peopleCount }, async () => {
      const person = await addPerson(t.service);
      return { ...person, ...(await signIn(t.service, person)) };
    }),
  );
  const startedAt = performance.now();
  await acceptAll();
  const acceptedAt = performance.now();
  await raceAll();
  const seconds = [acceptedAt - startedAt, performance.now() - acceptedAt].map((ms) => (ms / 1000).toFixed(0));
  process.stdout.write(
    `${raced.length} races: ${counts.consumes} consumes, ${counts.granted} granted, ${counts.refused} refused, ${counts.replayed} replayed; accepted in ${seconds[0]} s, raced in ${seconds[1]} s\n`,
  );
}, 400_000);
afterAll(async () => {
  for (const connection of connections) connection.close();
  await Promise.all(servers?.map((server) => server.kill("SIGTERM")) ?? []);
  await t?.stop();
});

const actionOf = (i: number) => ({ tool: "delete_project", arguments: { project_id: `p_${i}` } });
const callerOf = ({ iss, sub }: Person) => ({ iss, sub, clientId: "chat-app" });
const newToken = () => randomBytes(32).toString("base64url");

/** Approvals as a person has accepted them, made in this process: with records and receipts that `consume` verifies. */
async function acceptAll(): Promise<void> {
  const key = await requireValidKey(t.service, client.keyId);
  const accept = async (lane: number) => {
    for (let i = lane; i < raceCount; i += lanes) {
      const person = people[i % peopleCount] as Racer;
      const { answer } = await mint(t.service, key, {
        caller: callerOf(person),
        action: actionOf(i),
        presentation: { title: `Delete project ${i}` },
        requirements: { matchCode: false },
        ttlSeconds: 3_600,
        actBySeconds: 3_600,
      });
      await accepted(answer.id, person);
      raced[i] = { id: answer.id, person, winner: undefined };
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => accept(lane)));
}

/** As the decision route does once it has judged the form: a receipt is signed, and stored with the change. */
async function accepted(id: string, person: Racer): Promise<void> {
  const { service } = t;
  const read = await readApproval(service.pool, id);
  const record = read && (await verifyRecord(service, read.approval));
  if (!record) throw new Error("it is not whole");
  const step = transition(read.approval, { kind: "decide", decision: "accept" }, read.now);
  if (!step.ok || step.next.status !== "accepted" || !step.validUntil) throw new Error("it cannot be accepted");
  const { iss, sub, userId } = person;
  const receipt = await signReceipt(service, step.next, step.next.decidedAt, {
    authn: { iss, sub, via: "self" },
    viewDigest: viewDigestOf(buildView(record, "en"), record.salt),
    locale: "en",
    shownAt: read.approval.createdAt,
    authTime: person.session.authTime,
    amr: person.session.amr,
  });
  const isWritten = await commitChange(service.pool, {
    from: read.approval,
    to: { ...step.next, receipt },
    validUntil: step.validUntil,
    event: step.event,
    actor: { kind: "person", iss, sub, userId },
    person: { sid: person.session.sid, userId, right: { iss, sub, isLink: false } },
  });
  if (!isWritten) throw new Error("somebody was first");
}

async function raceAll(): Promise<void> {
  const race = async (lane: number) => {
    const own = await Promise.all(Array.from({ length: attemptsMax }, (_, i) => openConnection(baseOf(i))));
    connections.push(...own);
    for (let i = lane; i < raceCount; i += lanes) await raceOne(i, own);
  };
  await Promise.all(Array.from({ length: lanes }, (_, lane) => race(lane)));
}

const baseOf = (i: number) => `http://127.0.0.1:${servers[i % servers.length]?.config.port}`;

async function raceOne(i: number, own: Connection[]): Promise<void> {
  const each = raced[i] as Raced;
  const consume = (lane: number, consumerToken: string) => consumeOn(own[lane % own.length], i, each, consumerToken);
  const tokens = Array.from({ length: i % 10 === 0 ? attemptsMax : 2 }, newToken);
  const answers = await Promise.all(tokens.map((token, lane) => consume(lane, token)));
  const granted = answers.filter(({ status, replayed }) => status === 200 && replayed === false);
  const refused = answers.filter(({ status, code }) => status === 409 && code === "already_consumed");
  if (granted.length !== 1 || refused.length !== tokens.length - 1)
    faults.push(`${each.id}: ${answers.map(({ status, code, replayed }) => `${status} ${code ?? replayed}`)}`);
  const at = answers.findIndex(({ status }) => status === 200);
  each.winner = tokens[at];
  // Its answer lost, the winner asks the other replica again; and now and then so does one that lost.
  const again = await consume(at + 1, tokens[at] ?? "");
  if (again.status !== 200 || again.replayed !== true || again.receipt !== granted[0]?.receipt)
    faults.push(`${each.id}: the winner's repetition was answered ${again.status} ${again.code ?? again.replayed}`);
  const loser = i % 10 === 1 ? await consume(at + 2, tokens[at === 0 ? 1 : 0] ?? "") : undefined;
  if (loser && (loser.status !== 409 || loser.code !== "already_consumed"))
    faults.push(`${each.id}: a loser's repetition was answered ${loser.status} ${loser.code ?? loser.replayed}`);
  counts.granted += granted.length;
  counts.refused += refused.length + (loser?.status === 409 ? 1 : 0);
  counts.replayed += again.replayed ? 1 : 0;
}

type Answer = { status: number; code?: string; replayed?: boolean; receipt?: string };

async function consumeOn(
  connection: Connection | undefined,
  i: number,
  { id, person }: Raced,
  consumerToken: string,
): Promise<Answer> {
  if (!connection) throw new Error("no connection");
  counts.consumes += 1;
  const { status, text } = await connection.ask({
    method: "POST",
    url: `${baseOf(0)}/api/v1/approvals/${id}/consume`,
    headers: { authorization: `Bearer ${client.apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ caller: callerOf(person), action: actionOf(i), consumerToken }),
  });
  return { ...(JSON.parse(text) as Omit<Answer, "status">), status };
}

describe(`${raceCount} approvals, each consumed by two or four attempts at once over two replicas`, () => {
  it("I5: one attempt of each is granted, the others are already_consumed, and only the winner's repetition is granted again", () => {
    expect(faults.slice(0, 20)).toEqual([]);
    expect([raced.length, counts.granted, counts.replayed]).toEqual([raceCount, raceCount, raceCount]);
  });

  it("I5: the rows and the history say that each was consumed once, by the attempt that was told so", async () => {
    const { rows } = await t.service.pool.query<{ id: string; consumer_hash: Buffer | null; events: number }>(
      `SELECT a."id", a."consumer_hash", (SELECT count(*)::int FROM "audit_event" e
         WHERE e."approval_id" = a."id" AND e."type" = 'approval.consumed') AS "events" FROM "approval" a`,
    );
    const hashes = new Map(
      raced.map(({ id, winner }) => [
        id,
        createHash("sha256")
          .update(winner ?? "")
          .digest("hex"),
      ]),
    );
    const wrong = rows.filter((row) => row.events !== 1 || row.consumer_hash?.toString("hex") !== hashes.get(row.id));
    expect([rows.length, wrong.slice(0, 20)]).toEqual([raceCount, []]);
  });
});

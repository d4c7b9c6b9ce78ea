import { randomBytes, randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { createKey } from "../api-keys/create";
import { requireValidKey } from "../api-keys/require-valid";
import { decide } from "../approvals/decide";
import { mint } from "../approvals/mint";
import { openForPerson } from "../approvals/open";
import type { AuditActor } from "../audit/event";
import { addClient } from "../clients/add";
import type { RegisteredKey } from "../clients/cache";
import { readClock } from "../database/clock";
import type { Service } from "../process";
import { sessionCookie } from "../sessions/cookie";
import { csrfToken } from "../sessions/csrf";
import { readSession } from "../sessions/read";
import type { PersonSession } from "../sessions/session";
import { startSession } from "../sessions/start";
import { addUser } from "../users/add";
import { buildView } from "../views/build";
import { stampOf, viewDigestOf } from "../views/stamp";
import { cleanUp, findScratchClient, scratchAddress, scratchName, scratchTool } from "./clean-up";
import { withDoctorLock } from "./lock";

/**
 * A client, a key of it and a person, all named "doctor", that exist while `work` runs: with them a real approval is asked for and accepted
 * by the verbs that the API and the page use, and by nothing that others could not see in the history.
 */
export type Scratch = {
  key: RegisteredKey;
  apiKey: string;
  caller: { iss: string; sub: string };
  /** Asks for one more approval, of a tool that nothing runs. */
  ask(): Promise<ScratchApproval>;
  /** Accepts as the person on the page does: the same form, not before it can have been read. */
  accept(id: string): Promise<void>;
};
export type ScratchApproval = { id: string; action: { tool: string; arguments: { run: string } } };

/**
 * Runs `work` with a scratch client. Whatever happens, afterwards what is still open of it is withdrawn, the key is gone, the person is gone,
 * and the client is disabled; what a killed command left behind is cleared at the next call. One at a time over one database.
 */
export async function withScratch<T>(
  service: Service,
  actor: AuditActor,
  work: (scratch: Scratch) => Promise<T>,
): Promise<T> {
  return withDoctorLock(service.pool, async () => {
    const known = await findScratchClient(service);
    const { clientId } = known ?? (await addClient(service, { name: scratchName, tools: [scratchTool] }, actor));
    try {
      await cleanUp(service, clientId, actor);
      return await work(await makeScratch(service, clientId, actor));
    } finally {
      await cleanUp(service, clientId, actor);
    }
  });
}

async function makeScratch(service: Service, clientId: string, actor: AuditActor): Promise<Scratch> {
  await service.pool.query(`UPDATE "client" SET "disabled_at" = NULL WHERE "id" = $1`, [clientId]);
  const { keyId, apiKey } = await createKey(service, { clientId, tools: [scratchTool] }, actor);
  const key = await requireValidKey(service, keyId);
  // Nobody knows this password, so nobody signs in.
  const password = randomBytes(32).toString("base64url");
  const { userId, iss, sub } = await addUser(service, { email: scratchAddress(), name: scratchName, password }, actor);
  const claims = await startSession(service, { userId, iss, sub, amr: ["pwd"], userAgent: "countersign doctor" });
  const cookie = (await sessionCookie(service, claims)).split(";")[0] ?? "";
  const session = await readSession(service, new Headers({ cookie }));
  if (!session) throw new Error("The scratch session does not hold.");
  const caller = { iss, sub };
  return {
    key,
    apiKey,
    caller,
    ask: async () => {
      const action = { tool: scratchTool, arguments: { run: randomUUID() } };
      const presentation = { title: "Scratch approval of countersign doctor: nothing runs" };
      const { answer } = await mint(service, key, {
        caller,
        action,
        presentation,
        requirements: { matchCode: false, passkey: "off" },
        ttlSeconds: 120,
        actBySeconds: 60,
      });
      return { id: answer.id, action };
    },
    accept: (id) => accept(service, session, id),
  };
}

async function accept(service: Service, session: PersonSession, id: string): Promise<void> {
  const opened = await openForPerson(service, session, id);
  if (!opened?.record) throw new Error("The page would not show the scratch approval.");
  const { sid } = session;
  const viewDigest = viewDigestOf(buildView(opened.record, "en"), opened.record.salt);
  const renderedAt = (await readClock(service.pool)).getTime();
  const rendering = { approvalId: id, sid, viewDigest, locale: "en" as const, renderedAt };
  await delay(readingMs);
  const result = await decide(service, session, id, {
    choice: "accept",
    csrf: csrfToken(service.secrets, { sid, purpose: "decide", target: id }),
    stamp: stampOf(service.secrets, rendering),
    locale: "en",
    renderedAt,
    code: "",
    hasRead: true,
    note: "",
    passkeyAnswer: "",
  });
  if (result.kind !== "decided") throw new Error(`The scratch approval was not accepted: ${JSON.stringify(result)}.`);
}

/** An accept that comes sooner after the page was made is refused. */
const readingMs = 1_100;

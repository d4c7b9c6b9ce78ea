import { link, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import type { Account } from "./account";
import { hasCode } from "./error-code";
import { isAlive, ownIdentity } from "./process-stamp";
import { createPrivate, draftPath, readIfPresent, writePrivate } from "./write-private";

const ticketSchema = z.object({ pid: z.number(), stamp: z.string(), released: z.boolean() });
type Ticket = z.infer<typeof ticketSchema>;

/**
 * Runs `work` while nobody else, in this process or another on this machine, runs work under the lock of the same folder.
 * A holder that was killed is detected by process id and start time. Throws after `timeoutMs` (default 180,000) of waiting.
 *
 * The lock is a row of numbered tickets, `lock.1`, `lock.2`, …: whoever creates the next number has it, provided that the
 * highest before it was released or its holder is dead. The highest file is never deleted, so a number is won once; a
 * single lock file would have to be deleted when stale, and two who saw the same stale file could each delete and create.
 */
export async function withLock<T>(
  folder: string,
  owner: Account | undefined,
  work: () => Promise<T>,
  timeoutMs = 180_000,
): Promise<T> {
  const ticket: Ticket = { ...(await ownIdentity()), released: false };
  const path = await acquire(folder, owner, ticket, Date.now() + timeoutMs);
  try {
    return await work();
  } finally {
    await writePrivate(path, JSON.stringify({ ...ticket, released: true }), owner);
  }
}

async function acquire(folder: string, owner: Account | undefined, ticket: Ticket, deadline: number): Promise<string> {
  for (;;) {
    const highest = await highestNumber(folder);
    const holder = await findHolder(folder, highest);
    if (holder === undefined) {
      const path = await take(folder, owner, ticket, highest + 1);
      if (path !== undefined) return path;
    } else if (Date.now() > deadline) {
      throw new Error(`Process ${holder.pid} has held the lock in ${folder} for too long.`);
    }
    await delay(20 + Math.random() * 30);
  }
}

async function take(
  folder: string,
  owner: Account | undefined,
  ticket: Ticket,
  number: number,
): Promise<string | undefined> {
  const path = join(folder, `lock.${number}`);
  const draft = draftPath(join(folder, "draft"));
  await createPrivate(draft, JSON.stringify(ticket), owner);
  try {
    await link(draft, path);
  } catch (error) {
    if (hasCode(error, "EEXIST")) return undefined;
    throw error;
  } finally {
    await rm(draft);
  }
  const numbers = await listNumbers(folder);
  // Others may have passed this number, and deleted it, between our look and our try.
  if (Math.max(...numbers) > number) {
    await rm(path, { force: true });
    return undefined;
  }
  await Promise.all(numbers.filter((n) => n < number).map((n) => rm(join(folder, `lock.${n}`), { force: true })));
  return path;
}

async function findHolder(folder: string, number: number): Promise<Ticket | undefined> {
  const text = await readIfPresent(join(folder, `lock.${number}`));
  if (text === undefined) return undefined;
  const ticket = ticketSchema.parse(JSON.parse(text));
  return !ticket.released && (await isAlive(ticket)) ? ticket : undefined;
}

async function highestNumber(folder: string): Promise<number> {
  return Math.max(0, ...(await listNumbers(folder)));
}

async function listNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder);
  return names.flatMap((name) => (/^lock\.\d+$/.test(name) ? [Number(name.slice("lock.".length))] : []));
}

import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { promisify } from "node:util";

/** One life of a process id: ids are used again, the pair is not. */
export type ProcessIdentity = { pid: number; stamp: string };

/**
 * Tells when the process `pid` began, as an opaque text, or `undefined` when no such process runs. A process that ended
 * but was never reaped (a zombie, usual in a container without an init) counts as ended.
 */
export async function processStamp(pid: number): Promise<string | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return process.platform === "linux" ? linuxStamp(pid) : posixStamp(pid);
}

/** Tells whether exactly this life of the process still runs. */
export async function isAlive(identity: ProcessIdentity): Promise<boolean> {
  return (await processStamp(identity.pid)) === identity.stamp;
}

/** Names the calling process. */
export async function ownIdentity(): Promise<ProcessIdentity> {
  const stamp = await processStamp(process.pid);
  if (stamp === undefined) throw new Error(`The start time of this process (${process.pid}) cannot be read.`);
  return { pid: process.pid, stamp };
}

/** Returns the command line of a running process, words joined by spaces; empty when there is none. */
export async function processCommand(pid: number): Promise<string> {
  if (process.platform === "linux") {
    const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
    return line.replaceAll("\0", " ").trim();
  }
  return ps(pid, "command=");
}

async function linuxStamp(pid: number): Promise<string | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  if (stat === undefined) return undefined;
  // proc(5): the second field is a name in brackets and may hold anything; the state is field 3, the start time field 22.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const startTicks = fields[19];
  if (fields[0] === "Z" || fields[0] === "X" || startTicks === undefined) return undefined;
  const bootId = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return `${bootId.trim()}:${startTicks}`;
}

async function posixStamp(pid: number): Promise<string | undefined> {
  const state = await ps(pid, "stat=");
  if (state === "" || state.startsWith("Z")) return undefined;
  return (await ps(pid, "lstart=")) || undefined;
}

async function ps(pid: number, column: string): Promise<string> {
  const result = await promisify(execFile)("ps", ["-o", column, "-p", String(pid)]).catch(() => undefined);
  return result?.stdout.trim() ?? "";
}

import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { withSuperuser } from "./connect";
import { hasCode } from "./error-code";
import type { ClusterPlace } from "./paths";
import { type ProcessIdentity, processCommand, processStamp } from "./process-stamp";
import { readIfPresent } from "./write-private";

/** A running server of ours. */
export type Postmaster = ProcessIdentity & { port: number };

/** What PostgreSQL writes into `postmaster.pid`: line 1 the process, 4 the port, 8 the status. */
export type PidFile = { pid: number; port: number; isReady: boolean };

/** Reads `postmaster.pid`; `undefined` when there is none or it is empty. */
export async function readPidFile(place: ClusterPlace): Promise<PidFile | undefined> {
  const text = await readIfPresent(join(place.cluster, "postmaster.pid"));
  const lines = text?.split("\n") ?? [];
  const pid = Number(lines[0]);
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  return { pid, port: Number(lines[3]), isReady: lines[7]?.trim() === "ready" };
}

/**
 * Finds the server that runs on the cluster, whoever started it, and waits while it is starting, recovering or stopping.
 * `undefined` when none runs: no file, a dead process, or one of another program that got the same id. Throws when the
 * server refuses our password or does not answer for `timeoutMs`.
 */
export async function findPostmaster(
  place: ClusterPlace,
  password: string,
  timeoutMs = 60_000,
): Promise<Postmaster | undefined> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const file = await readPidFile(place);
    const stamp = file && (await processStamp(file.pid));
    if (!file || stamp === undefined || !(await isPostmaster(place, file.pid))) return undefined;
    if (await answers(file.port, password)) return { pid: file.pid, stamp, port: file.port };
    if (Date.now() > deadline) {
      throw new Error(`PostgreSQL (process ${file.pid}) runs on ${place.cluster}, but does not answer.`);
    }
    await delay(50);
  }
}

/**
 * Tells whether process `pid` is the server of this cluster, and not another program that got the id of a dead one. The
 * server keeps its first command line, which names the cluster; its children rename themselves.
 */
export async function isPostmaster(place: ClusterPlace, pid: number): Promise<boolean> {
  return (await processCommand(pid)).includes(`-D ${place.cluster}`);
}

async function answers(port: number, password: string): Promise<boolean> {
  try {
    await withSuperuser(port, password, (client) => client.query("SELECT 1"));
    return true;
  } catch (error) {
    if (hasCode(error, "28P01", "28000"))
      throw new Error("The embedded database refuses its password.", { cause: error });
    return false;
  }
}

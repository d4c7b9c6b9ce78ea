import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:fs";
import { type FileHandle, open, readFile, rename, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { Native } from "./native";
import type { ClusterPlace } from "./paths";
import { findPostmaster, type Postmaster, readPidFile } from "./postmaster";
import { processStamp } from "./process-stamp";
import { SERVER_ENVIRONMENT } from "./run";

/** On the command line these outrank the files of the cluster. Durability (fsync, synchronous_commit) stays as it is: on. */
const SETTINGS = [
  "listen_addresses=127.0.0.1",
  "unix_socket_directories=",
  "max_connections=300",
  "wal_level=minimal",
  "max_wal_senders=0",
  "jit=off",
  "timezone=UTC",
  "log_timezone=UTC",
  "log_checkpoints=off",
];

const RETRY_MS = 2_000;
const READY_MS = 120_000;
const LOG_BYTES_MAX = 10 * 1024 * 1024;

/**
 * Starts the server on the cluster, on `port` or else on a random free port of 127.0.0.1, and resolves when it takes
 * connections. It runs in a session of its own and outlives this process. A failed start is tried again for 2 s: after a
 * `kill -9` of the server its children still hold the shared memory for a moment. To be called under the lock, when
 * `findPostmaster` found none. Throws with the end of the server's log.
 */
export async function launch(options: {
  place: ClusterPlace;
  native: Native;
  password: string;
  port: number | undefined;
}): Promise<Postmaster> {
  const { place, native, password, port } = options;
  const deadline = Date.now() + RETRY_MS;
  for (;;) {
    const log = await openLog(place);
    const from = (await log.stat()).size;
    try {
      const started = await launchOnce(place, native, port ?? (await findFreePort()), log);
      // A starter that was killed may have left a server behind that was not to be seen yet and now was faster.
      const postmaster = started ?? (await findPostmaster(place, password));
      if (postmaster) return postmaster;
    } finally {
      await log.close();
    }
    if (Date.now() > deadline) {
      const lines = (await readFile(place.logFile)).subarray(from).toString("utf8").trim();
      throw new Error(`The embedded database does not start (${place.logFile}):\n${lines.slice(-2000)}`);
    }
    await delay(100);
    await removeEmptyPidFile(place);
  }
}

async function launchOnce(
  place: ClusterPlace,
  native: Native,
  port: number,
  log: FileHandle,
): Promise<Postmaster | undefined> {
  const stale = await readPidFile(place);
  const args = ["-D", place.cluster, "-p", String(port), ...SETTINGS.flatMap((setting) => ["-c", setting])];
  const child = spawn(native.postgres, args, {
    ...place.server,
    cwd: "/",
    detached: true,
    // The process id in a stale postmaster.pid may since belong to another program, in a container even most likely, and
    // PostgreSQL would refuse for ever. It excepts its grandparent, named here; the check of the shared memory remains.
    env: stale ? { ...SERVER_ENVIRONMENT, PG_GRANDPARENT_PID: String(stale.pid) } : SERVER_ENVIRONMENT,
    stdio: ["ignore", log.fd, log.fd],
  });
  let hasEnded = false;
  child.once("exit", () => {
    hasEnded = true;
  });
  child.once("error", (error) => {
    hasEnded = true;
    log.write(`${error.message}\n`).catch(() => undefined);
  });
  child.unref();
  const deadline = Date.now() + READY_MS;
  while (!hasEnded) {
    const file = await readPidFile(place);
    const stamp = file?.isReady && file.pid === child.pid ? await processStamp(file.pid) : undefined;
    if (file && stamp !== undefined) return { pid: file.pid, stamp, port: file.port };
    if (Date.now() > deadline) child.kill("SIGINT");
    await delay(20);
  }
  return undefined;
}

async function openLog(place: ClusterPlace): Promise<FileHandle> {
  const size = await stat(place.logFile).then(
    (stats) => stats.size,
    () => 0,
  );
  if (size > LOG_BYTES_MAX) await rename(place.logFile, `${place.logFile}.1`);
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
  const log = await open(place.logFile, flags, 0o600);
  if (place.owner) await log.chown(place.owner.uid, place.owner.gid);
  return log;
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No free port on 127.0.0.1.");
  return address.port;
}

/** A power loss can leave an empty file, which no server believes. Under the lock, 100 ms after a failed start, it is nobody's. */
async function removeEmptyPidFile(place: ClusterPlace): Promise<void> {
  const path = join(place.cluster, "postmaster.pid");
  const stats = await stat(path).catch(() => undefined);
  if (stats?.size === 0) await rm(path, { force: true });
}

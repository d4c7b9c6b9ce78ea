import { randomUUID } from "node:crypto";
import { createDatabase, databaseUrl } from "./create-database";
import { readHolders, writeHolders } from "./holders";
import { initialise } from "./initialise";
import { launch } from "./launch";
import { withLock } from "./lock";
import { locateNative, type Native, prepareNative } from "./native";
import { type ClusterPlace, openCopyParent, openFolder, openHome } from "./paths";
import { findPostmaster, type Postmaster } from "./postmaster";
import { ownIdentity } from "./process-stamp";
import { type ClusterRecord, clusterExists, loadRecord, markInitialised } from "./record";
import { stopServer } from "./stop-server";
import { watch } from "./watch";
import { removeDrafts } from "./write-private";

/** A use of the embedded database. */
export type EmbeddedDatabase = {
  /** Address with password, role `countersign` (owns the tables, no superuser, may create databases), valid until `stop`. */
  url: string;
  /** The same for the role `countersign_service`, which may only sign in until the owner of tables grants it more. */
  serviceUrl: string;
  /** False when somebody else alive uses the database too; true for whoever starts it, or takes it over from the dead. */
  owned: boolean;
  /**
   * Ends this use; safe to call twice. The last live user stops the server, in an orderly way. While others still use it,
   * it goes on for them, whoever started it: a command must not take the database from a service that joined it.
   */
  stop(): Promise<void>;
};

export type EmbeddedLog = {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
};

type Running = { place: ClusterPlace; native: Native; record: ClusterRecord; log: EmbeddedLog };

/**
 * Opens the real PostgreSQL that lives in `dataDir`: joins the server that runs there, or creates and starts one. It listens
 * on a random port of 127.0.0.1 only and outlives a `kill -9` of this process; the next call takes it over. While in use, a
 * killed server is started again on the same port. Calls at the same moment, in any processes, end with one server.
 * Throws with a sentence for the operator when there is no PostgreSQL for this machine, when the data is gone, belongs to
 * somebody else or lies open, and when the server does not start.
 */
export async function startEmbedded(options: { dataDir: string; log: EmbeddedLog }): Promise<EmbeddedDatabase> {
  const folder = await openFolder(options.dataDir);
  return withLock(folder.folder, folder.owner, async () => {
    const record = await loadRecord(folder);
    const place = await openHome(folder, record.home);
    await Promise.all([removeDrafts(place.folder), removeDrafts(place.home)]);
    const native = await prepareNative({
      source: await locateNative(),
      account: place.server,
      owner: place.owner,
      copyParent: () => openCopyParent(place),
      log: options.log,
    });
    return enter({ place, native, record, log: options.log });
  });
}

async function enter(running: Running): Promise<EmbeddedDatabase> {
  const { place, native, record, log } = running;
  if (!(await clusterExists(place, record))) {
    if (place.server) {
      log.warn(
        { home: place.home, uid: place.server.uid },
        "PostgreSQL does not run as root: its data lies in this home",
      );
    }
    await initialise(place, native, record.password);
    log.info({ cluster: place.cluster }, "created the embedded database");
  }
  await markInitialised(place, record);

  const { holders, port } = await readHolders(place);
  const owned = holders.length === 0;
  const found = await findPostmaster(place, record.password);
  const postmaster =
    found ?? (await launch({ place, native, password: record.password, port: owned ? undefined : port }));
  try {
    await createDatabase(postmaster.port, record);
    const holder = { id: randomUUID(), ...(await ownIdentity()) };
    await writeHolders(place, { port: postmaster.port, holders: [...holders, holder] });
    log.info({ port: postmaster.port, pid: postmaster.pid }, describe(found !== undefined, owned));
    return open(running, postmaster, holder.id, owned);
  } catch (error) {
    if (owned) await stopServer(place, native);
    throw error;
  }
}

function open(running: Running, postmaster: Postmaster, holderId: string, owned: boolean): EmbeddedDatabase {
  const { record, log } = running;
  const unwatch = watch(
    postmaster,
    () => revive(running, postmaster.port),
    (error) => log.warn({ err: error }, "the embedded database is down and does not start"),
  );
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= unwatch().then(() => leave(running, holderId));
    return stopping;
  };
  const url = databaseUrl(postmaster.port, "countersign", record.password);
  const serviceUrl = databaseUrl(postmaster.port, "countersign_service", record.servicePassword);
  return { url, serviceUrl, owned, stop };
}

async function revive({ place, native, record, log }: Running, port: number): Promise<Postmaster> {
  return withLock(place.folder, place.owner, async () => {
    const found = await findPostmaster(place, record.password);
    if (found) return found;
    const postmaster = await launch({ place, native, password: record.password, port });
    log.warn({ port, pid: postmaster.pid }, "the embedded database had ended and was started again");
    return postmaster;
  });
}

async function leave({ place, native, log }: Running, holderId: string): Promise<void> {
  await withLock(place.folder, place.owner, async () => {
    const { port, holders } = await readHolders(place);
    const others = holders.filter((holder) => holder.id !== holderId);
    await writeHolders(place, { port, holders: others });
    if (others.length > 0) return;
    await stopServer(place, native);
    log.info({ cluster: place.cluster }, "stopped the embedded database");
  });
}

function describe(wasRunning: boolean, owned: boolean): string {
  if (!wasRunning) return "started the embedded database";
  return owned ? "took over the embedded database of a process that died" : "joined the running embedded database";
}

import { execFileSync } from "node:child_process";
import pg from "pg";
import type { Fault } from "./fault-plan";
import type { Blow, Exchange } from "./fault-proxy";
import type { Replica } from "./fault-replica";

export type Chaos = {
  /** Told of each exchange; says whether the proxy is to cut it, and does the rest itself. */
  onExchange(exchange: Exchange): Blow;
  /** Told of each webhook that arrives. */
  onDelivery(): void;
  /** Faults that came to pass, by kind and what they fell on. */
  done: Map<string, number>;
  /** Nothing more happens from now on; resolves when what is frozen goes on and the database answers. */
  end(): Promise<void>;
};

/** Carries a plan out: each fault with the request that it was planned for. */
export function startChaos(options: {
  faults: readonly Fault[];
  replicas: readonly Replica[];
  databaseUrl: string;
}): Chaos {
  const { replicas, databaseUrl } = options;
  const left = new Set(options.faults);
  const seen = new Map<Fault["on"], number>();
  const done = new Map<string, number>();
  const working = new Set<Promise<void>>();
  let isEnded = false;
  let database: Promise<void> = Promise.resolve();

  const strike = async (fault: Fault, target: number) => {
    await pause(fault.afterMs);
    const replica = replicas[target];
    const isStruck =
      fault.kind === "kill"
        ? replica?.signal("SIGKILL")
        : fault.kind === "freeze"
          ? await freeze(replica, fault.forMs)
          : fault.kind === "cut_request" || fault.kind === "cut_response" || (await strikeDatabase(fault));
    if (isStruck) note(fault);
  };
  const strikeDatabase = async (fault: Fault) => {
    let isStruck = false;
    // One after the other: it has to come back before it can go again.
    database = database.then(async () => {
      isStruck = await signalDatabase(databaseUrl, fault.kind === "kill_database" ? "SIGKILL" : "SIGQUIT");
      if (isStruck) await databaseAnswers(databaseUrl);
    });
    await database;
    return isStruck;
  };
  const note = ({ kind, on }: Fault) => done.set(`${kind} at ${on}`, (done.get(`${kind} at ${on}`) ?? 0) + 1);

  const happen = (on: Fault["on"], target: number): Blow => {
    if (isEnded) return undefined;
    const count = (seen.get(on) ?? 0) + 1;
    seen.set(on, count);
    let blow: Blow;
    for (const fault of left) {
      if (fault.on !== on || fault.nth !== count) continue;
      left.delete(fault);
      if (fault.kind === "cut_request" || fault.kind === "cut_response") blow = fault.kind;
      const work = strike(fault, target).finally(() => working.delete(work));
      working.add(work);
    }
    return blow;
  };
  return {
    onExchange: ({ kind, target }) => happen(kind, target),
    onDelivery: () => {
      happen("delivery", (seen.get("delivery") ?? 0) % replicas.length);
    },
    done,
    end: async () => {
      isEnded = true;
      await Promise.all(working);
      await databaseAnswers(databaseUrl);
    },
  };
}

async function freeze(replica: Replica | undefined, forMs: number): Promise<boolean> {
  const pid = replica?.pid();
  if (!replica?.signal("SIGSTOP")) return false;
  await pause(forMs);
  // Perhaps another process has its place by now.
  if (replica.pid() === pid) replica.signal("SIGCONT");
  return true;
}

/** SIGQUIT to the first process is `stop -m immediate`: nothing is written down, and the next start recovers. */
async function signalDatabase(databaseUrl: string, signal: "SIGQUIT" | "SIGKILL"): Promise<boolean> {
  const db = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 5_000 });
  db.on("error", () => undefined);
  try {
    await db.connect();
    const { rows } = await db.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const parent = Number(execFileSync("ps", ["-o", "ppid=", "-p", String(rows[0]?.pid)], { encoding: "utf8" }));
    return parent > 1 && process.kill(parent, signal);
  } catch {
    return false;
  } finally {
    await db.end().catch(() => undefined);
  }
}

/** Until a connection does some work. Throws after 60 s. */
export async function databaseAnswers(databaseUrl: string): Promise<void> {
  const endsAt = Date.now() + 60_000;
  for (;;) {
    const db = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2_000 });
    db.on("error", () => undefined);
    try {
      await db.connect();
      await db.query("SELECT 1");
      return;
    } catch (error) {
      if (Date.now() > endsAt) throw new Error("the database did not come back", { cause: error });
    } finally {
      await db.end().catch(() => undefined);
    }
    await pause(50);
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

import { Socket } from "node:net";
import pg from "pg";
import type { KeyRing } from "../keys/key-ring";
import type { Logger } from "../log";
import type { WaitHub } from "./hub";

export const notifyChannel = "countersign_approval";
export const keysChannel = "countersign_keys";

/** How often the connection is asked whether it is there, and how long it may take to say so. */
const heartbeat = { everyMs: 5_000, timeoutMs: 5_000 };
const sweepEveryMs = 5_000;
const retryMs = { first: 250, last: 5_000 };

type Options = {
  connectionString: string;
  hub: Pick<WaitHub, "notify" | "sweep">;
  keys: Pick<KeyRing, "refresh">;
  log: Logger;
};

/**
 * Holds the process's one LISTEN connection: passes notifications of approvals to the hub, and reads the signing keys again when they have
 * changed. When the connection breaks, or says nothing any more (half-open: the other side has vanished without a word), it is made anew,
 * after 250 ms at first and 5 s at last, and both are read at once: what was notified meanwhile is in the rows.
 */
export function listen(options: Options): { isUp(): boolean; stop(): Promise<void> } {
  let connection: Connection | undefined;
  let isStopped = false;
  let delayMs = retryMs.first;
  let timer: NodeJS.Timeout | undefined;

  const lost = (error?: Error) => {
    if (isStopped || timer) return;
    connection?.destroy();
    connection = undefined;
    options.log.warn(
      { reason: error?.message, retryMs: delayMs },
      "the notification connection is down; waits are swept",
    );
    timer = setTimeout(() => {
      timer = undefined;
      void reconnect();
    }, delayMs);
    delayMs = Math.min(delayMs * 2, retryMs.last);
  };

  const reconnect = async () => {
    try {
      const opened = await connect(options, lost);
      if (isStopped) return opened.destroy();
      connection = opened;
      delayMs = retryMs.first;
      await Promise.all([options.hub.sweep(), options.keys.refresh()]);
    } catch (error) {
      lost(error as Error);
    }
  };

  const beating = setInterval(() => connection?.ask().catch(lost), heartbeat.everyMs);
  const sweeping = setInterval(() => {
    options.hub
      .sweep()
      .catch((error: Error) => options.log.warn({ reason: error.message }, "parked waits could not be swept"));
  }, sweepEveryMs);
  void reconnect();
  return {
    isUp: () => connection !== undefined,
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(beating);
      clearInterval(sweeping);
      await connection?.end();
    },
  };
}

type Connection = { ask(): Promise<void>; end(): Promise<void>; destroy(): void };

/** A connection that listens; `lost` is called once it does not any more. */
async function connect(
  { connectionString, hub, keys, log }: Options,
  lost: (error?: Error) => void,
): Promise<Connection> {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString,
    // Ours, so that it can be cut off: a polite end would wait for an answer from whoever has vanished.
    stream: () => socket,
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    query_timeout: heartbeat.timeoutMs,
    application_name: "countersign-listen",
  });
  const destroy = () => {
    client.removeAllListeners();
    client.on("error", () => {});
    socket.destroy();
  };
  client.on("error", lost);
  client.on("end", () => lost());
  client.on("notification", ({ channel, payload }) => {
    if (channel !== keysChannel) hub.notify(payload ?? "");
    else
      keys
        .refresh()
        .catch((error: Error) => log.warn({ reason: error.message }, "the signing keys could not be read again"));
  });
  try {
    await client.connect();
    await client.query(`LISTEN ${notifyChannel}; LISTEN ${keysChannel}`);
  } catch (error) {
    destroy();
    throw error;
  }
  return {
    ask: async () => void (await client.query("SELECT 1")),
    end: async () => {
      client.removeAllListeners("end");
      await client.end().catch(() => {});
    },
    destroy,
  };
}

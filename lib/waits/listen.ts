import pg from "pg";
import type { KeyRing } from "../keys/key-ring";
import type { Logger } from "../log";
import type { WaitHub } from "./hub";

export const notifyChannel = "countersign_approval";
export const keysChannel = "countersign_keys";

/**
 * Holds the process's one LISTEN connection: passes notifications of approvals to the hub, and reads the signing keys again when they have
 * changed. When the connection breaks it is made anew, at most every 250 ms at first and every 5 s at last, and both are read at once:
 * what was notified meanwhile is in the rows.
 */
export function listen(options: {
  connectionString: string;
  hub: WaitHub;
  keys: Pick<KeyRing, "refresh">;
  log: Logger;
}): { isUp(): boolean; stop(): Promise<void> } {
  let client: pg.Client | undefined;
  let isStopped = false;
  let retryMs = 250;
  let timer: NodeJS.Timeout | undefined;

  const lost = (error?: Error) => {
    if (isStopped || timer) return;
    client?.removeAllListeners("notification");
    client = undefined;
    options.log.warn(
      { reason: error?.message, retryMs },
      "the notification connection is down; waits are swept meanwhile",
    );
    timer = setTimeout(() => {
      timer = undefined;
      void connect();
    }, retryMs);
    retryMs = Math.min(retryMs * 2, 5_000);
  };

  const refreshKeys = () =>
    void options.keys
      .refresh()
      .catch((error: Error) => options.log.warn({ reason: error.message }, "the signing keys could not be read again"));

  const connect = async () => {
    const next = new pg.Client({
      connectionString: options.connectionString,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      application_name: "countersign-listen",
    });
    next.on("error", lost);
    next.on("end", () => lost());
    next.on("notification", (message) => {
      if (message.channel === keysChannel) refreshKeys();
      else if (message.payload) options.hub.notify(message.payload);
    });
    try {
      await next.connect();
      await next.query(`LISTEN ${notifyChannel}`);
      await next.query(`LISTEN ${keysChannel}`);
      client = next;
      retryMs = 250;
      await Promise.all([options.hub.sweep(), options.keys.refresh()]);
    } catch (error) {
      next.end().catch(() => {});
      lost(error as Error);
    }
  };

  const sweeping = setInterval(() => {
    options.hub
      .sweep()
      .catch((error: Error) => options.log.warn({ reason: error.message }, "parked waits could not be swept"));
  }, 5_000);
  void connect();
  return {
    isUp: () => client !== undefined,
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      clearInterval(sweeping);
      await client?.end().catch(() => {});
    },
  };
}

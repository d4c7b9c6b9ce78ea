import type { Service } from "../process";
import { keysChannel } from "../waits/listen";

/**
 * Reads the keys again here and tells the other processes to, after a change was committed. One that hears nothing reads them within
 * 30 s, and before that when a row tells of a revocation; no statement takes what a revoked key has signed.
 */
export async function announceKeys(service: Pick<Service, "keys" | "pool" | "log">): Promise<void> {
  await service.keys.refresh();
  await service.pool
    .query("SELECT pg_notify($1, '')", [keysChannel])
    .catch((error: Error) =>
      service.log.warn({ reason: error.message }, "a change of signing keys was not announced; it is read within 30 s"),
    );
}

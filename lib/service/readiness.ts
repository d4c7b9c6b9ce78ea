import { pendingMigrations } from "@/prisma/migrate";
import type { Service } from "../process";

export type Readiness = Record<"database" | "migrations" | "keys" | "clock" | "draining", "ok" | "failed">;

/** Whether this process can do its work: database, migrations, signing keys, a clock within 2 s of the database's, not draining. */
export async function readiness(service: Service): Promise<Readiness> {
  const draining = service.draining.isBegun() || service.hub.isDraining() ? "failed" : "ok";
  const keys = service.keys.isHealthy() ? "ok" : "failed";
  try {
    const before = Date.now();
    const { rows } = await service.pool.query<{ now: Date }>("SELECT clock_timestamp() AS now");
    const databaseTime = rows[0]?.now.getTime() ?? 0;
    const isClockNear = databaseTime >= before - clockToleranceMs && databaseTime <= Date.now() + clockToleranceMs;
    const pending = await pendingMigrations(service.pool);
    return {
      database: "ok",
      migrations: pending.length === 0 ? "ok" : "failed",
      keys,
      clock: isClockNear ? "ok" : "failed",
      draining,
    };
  } catch (error) {
    service.log.warn({ reason: (error as Error).message }, "not ready: the database does not answer");
    return { database: "failed", migrations: "failed", keys, clock: "failed", draining };
  }
}

const clockToleranceMs = 2_000;

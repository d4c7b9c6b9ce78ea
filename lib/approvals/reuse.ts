import type pg from "pg";
import type { Service } from "../process";
import { isSameMac } from "../secrets/mac";
import { isLapsed, statusAt } from "./approval";
import { endBySystem } from "./end";
import { readApproval } from "./store";

/**
 * Whether a live approval may answer this request: everything shown and binding is equal, and it is pending, or accepted,
 * unconsumed and within act-by (section 6).
 */
export async function isReusable(service: Service, approvalId: string, reuseTag: Buffer | null): Promise<boolean> {
  const { rows } = await service.pool.query<{ reuse_tag: Buffer | null }>(
    `SELECT "reuse_tag" FROM "approval" WHERE "id" = $1`,
    [approvalId],
  );
  const stored = rows[0]?.reuse_tag;
  if (!reuseTag || !stored || !isSameMac(stored, reuseTag)) return false;
  const read = await readApproval(service.pool, approvalId);
  if (!read) return false;
  const status = statusAt(read.approval, read.now);
  return (
    status === "pending" ||
    (read.approval.status === "accepted" && read.approval.consumption.at === null && !isLapsed(read.approval, read.now))
  );
}

/**
 * Makes room for another approval of the same action: a pending one is withdrawn as superseded, or expired where its time is
 * over; an accepted one stays. False where somebody else changed it meanwhile.
 */
export async function clearWay(service: Service, db: pg.PoolClient, approvalId: string): Promise<boolean> {
  const read = await readApproval(db, approvalId);
  if (read?.approval.status !== "pending") return true;
  const isOver = statusAt(read.approval, read.now) === "expired";
  return endBySystem(service, db, read, isOver ? { kind: "expire" } : { kind: "withdraw", reason: "superseded" });
}

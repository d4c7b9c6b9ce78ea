import type pg from "pg";
import type { RegisteredClient } from "../clients/cache";
import type { Service } from "../process";
import { isOneOf } from "../secrets/mac";
import { isLapsed, statusAt } from "./approval";
import { endBySystem } from "./end";
import type { Effective } from "./mint-policy";
import type { MintRequest } from "./mint-request";
import { readApproval } from "./store";
import { reuseTagsOf } from "./tags";

/**
 * Whether a live approval may answer this request: it was minted for a request in which everything shown and binding is equal, and it is
 * pending, or accepted, unconsumed and within act-by (section 6). The stored tag names the approval, so none can be copied to another (I17).
 */
export async function isReusable(
  service: Service,
  client: RegisteredClient,
  approvalId: string,
  request: MintRequest,
  effective: Effective,
): Promise<boolean> {
  const read = await readApproval(service.pool, approvalId);
  if (!read?.approval.reuseTag) return false;
  const { approval, now } = read;
  const asked = reuseTagsOf(service.secrets, approvalId, client, request, effective);
  if (!isOneOf(asked, read.approval.reuseTag)) return false;
  return (
    statusAt(approval, now) === "pending" ||
    (approval.status === "accepted" && approval.consumption.at === null && !isLapsed(approval, now))
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

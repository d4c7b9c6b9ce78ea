import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import type { Approval } from "./approval";
import { isApprovalId } from "./id";
import { requireTool } from "./mint-policy";
import { type Clocked, readApproval } from "./store";

/** The client's own approval. Errors: `not_found`, the same for unknown, malformed and other clients' ids; `tool_not_allowed`. */
export async function findForClient(service: Service, key: RegisteredKey, id: string): Promise<Clocked<Approval>> {
  return requireOwn(key, isApprovalId(id) ? await readApproval(service.pool, id) : undefined);
}

/** What was read, if this key may know of it. Errors: as `findForClient`. */
export function requireOwn<T extends Clocked<Approval>>(key: RegisteredKey, read: T | undefined): T {
  if (read?.approval.clientId !== key.client.id) throw new Problem("not_found");
  requireTool(key, read.approval.tool);
  return read;
}

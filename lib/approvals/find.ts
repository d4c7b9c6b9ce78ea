import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import type { Approval } from "./approval";
import { isApprovalId } from "./id";
import { requireTool } from "./mint-policy";
import { type Clocked, readApproval } from "./store";

/** The client's own approval. Errors: `not_found`, the same for unknown, malformed and other clients' ids; `tool_not_allowed`. `readRow` is another way to its row. */
export async function findForClient(
  service: Service,
  key: RegisteredKey,
  id: string,
  readRow: Service["readParked"] = (rowId) => readApproval(service.pool, rowId),
): Promise<Clocked<Approval>> {
  const read = isApprovalId(id) ? await readRow(id) : undefined;
  if (read?.approval.clientId !== key.client.id) throw new Problem("not_found");
  requireTool(key, read.approval.tool);
  return read;
}

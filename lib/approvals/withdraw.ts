import { requireValidKey } from "../api-keys/require-valid";
import type { RegisteredKey } from "../clients/cache";
import { Problem } from "../problem";
import type { Service } from "../process";
import { end } from "./end";
import { findForClient } from "./find";
import { type StatusAnswer, statusAnswer } from "./status";
import { readApproval } from "./store";
import { transition } from "./transitions";

export const clientReasons = ["client_declined", "aborted", "superseded"] as const;

/**
 * Takes the client's request back, while it is pending or accepted and unconsumed. Withdrawing again is answered alike.
 * Errors: `already_decided`, `already_consumed`, `lapsed`, and those of `findForClient`.
 */
export async function withdraw(
  service: Service,
  key: RegisteredKey,
  id: string,
  reason: (typeof clientReasons)[number],
): Promise<StatusAnswer> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const read = await findForClient(service, key, id);
    if (read.approval.status === "withdrawn") return statusAnswer(service, read);
    const step = transition(read.approval, { kind: "withdraw", reason }, read.now);
    if (!step.ok)
      throw new Problem(
        step.reason === "already_consumed" || step.reason === "lapsed" ? step.reason : "already_decided",
        { detail: "It has ended; there is nothing to withdraw." },
      );
    const isWritten = await end(
      service,
      service.pool,
      read,
      { kind: "withdraw", reason },
      { kind: "client", keyId: key.keyId },
    );
    if (!isWritten) {
      await requireValidKey(service, key.keyId);
      continue;
    }
    service.hub.announce(id);
    const after = await readApproval(service.pool, id);
    if (after) return statusAnswer(service, after);
  }
  throw new Problem("unavailable");
}

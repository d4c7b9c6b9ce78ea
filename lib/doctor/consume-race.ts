import { randomBytes } from "node:crypto";
import { consume } from "../approvals/consume";
import { reportOutcome } from "../approvals/report-outcome";
import { Problem } from "../problem";
import type { Service } from "../process";
import { type Check, check, sentenceOf } from "./check";
import type { Scratch, ScratchApproval } from "./scratch";

const runners = 20;

/** Twenty attempts at once for the right to run: one must get it, nineteen must be told that another has it, and the history must say one. */
export function checkConsumeRace(service: Service, scratch: Scratch, approval: ScratchApproval): Promise<Check> {
  return check("consume race", async (found) => {
    const { key, caller } = scratch;
    const { id, action } = approval;
    const attempts = await Promise.all(
      Array.from({ length: runners }, async () => {
        const consumerToken = randomBytes(32).toString("base64url");
        const answer = await consume(service, key, id, { caller, consumerToken, action }).catch(
          (error: unknown) => error,
        );
        return { consumerToken, answer };
      }),
    );
    const granted = attempts.filter(({ answer }) => !(answer instanceof Error));
    const odd = attempts.find(
      ({ answer }) => answer instanceof Error && !(answer instanceof Problem && answer.code === "already_consumed"),
    );
    if (granted.length !== 1)
      found.failures.push(
        `Of ${runners} attempts at once ${granted.length} were granted, not one: STOP the service and tell us; do not let clients run.`,
      );
    if (odd) found.failures.push(`An attempt ended otherwise: ${sentenceOf(odd.answer)}`);
    const { rows } = await service.pool.query<{ count: number }>(
      `SELECT count(*)::int AS "count" FROM "audit_event" WHERE "approval_id" = $1 AND "type" = 'approval.consumed'`,
      [id],
    );
    if (rows[0]?.count !== 1) found.failures.push(`The history says consumed ${rows[0]?.count} times, not once.`);
    const winner = granted[0];
    if (winner) await reportOutcome(service, key, id, { consumerToken: winner.consumerToken, outcome: "succeeded" });
    found.facts.push(`Of ${runners} attempts at once one was granted.`);
  });
}

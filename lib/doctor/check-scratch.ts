import type { AuditActor } from "../audit/event";
import type { Service } from "../process";
import { type Check, check, unchecked } from "./check";
import { checkConsumeRace } from "./consume-race";
import { checkParkedWait } from "./parked-wait";
import { withScratch } from "./scratch";
import { checkTamperedRow } from "./tampered-row";

/** The gate itself, on a scratch approval that is accepted and then tampered with, raced for and ended. `slowUrl`: where a wait is parked. */
export async function checkScratch(service: Service, actor: AuditActor, slowUrl: string | undefined): Promise<Check[]> {
  const checks: Check[] = [];
  const made = await check("scratch approval", async (found) => {
    await withScratch(service, actor, async (scratch) => {
      const approval = await scratch.ask();
      await scratch.accept(approval.id);
      checks.push(await checkTamperedRow(service, scratch, approval));
      checks.push(await checkConsumeRace(service, scratch, approval));
      if (slowUrl !== undefined) checks.push(await checkParkedWait(service, scratch, slowUrl));
    });
    found.facts.push("Asked for, accepted and ended; its client is disabled, its key and its person are gone.");
  });
  const missing = ["tampered row", "consume race", ...(slowUrl === undefined ? [] : ["parked wait"])].slice(
    checks.length,
  );
  return [made, ...checks, ...missing.map((name) => unchecked(name, "there is no scratch approval"))];
}

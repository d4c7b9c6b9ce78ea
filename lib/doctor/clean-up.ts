import { randomUUID } from "node:crypto";
import { revokeKey } from "../api-keys/revoke";
import { endBySystem } from "../approvals/end";
import { readApproval } from "../approvals/store";
import type { AuditActor } from "../audit/event";
import { transact } from "../database/transact";
import type { Service } from "../process";
import { disableUser } from "../users/disable";

export const scratchName = "doctor";
export const scratchTool = "countersign_doctor";

/** `.invalid` never leads anywhere (RFC 2606). */
export const scratchAddress = () => `doctor-${randomUUID()}@doctor.invalid`;

/** The client of earlier runs: by its name, and by the one tool that its policy allows. */
export async function findScratchClient(service: Service): Promise<{ clientId: string } | undefined> {
  const { rows } = await service.pool.query<{ clientId: string }>(
    `SELECT c."id" AS "clientId" FROM "client" c JOIN "client_policy" p ON p."client_id" = c."id" AND p."version" = c."policy_version"
     WHERE c."name" = $1 AND p."policy" -> 'tools' = jsonb_build_array($2::text) ORDER BY c."created_at" LIMIT 1`,
    [scratchName, scratchTool],
  );
  return rows[0];
}

/**
 * Ends everything of the scratch client: what is open is withdrawn, keys are revoked and taken away, people disabled and taken away, the client
 * disabled. Goes on where a step fails, and then throws the first failure. What was done stays in the history.
 */
export async function cleanUp(service: Service, clientId: string, actor: AuditActor): Promise<void> {
  const steps = [
    () => withdrawOpen(service, clientId),
    () => removeKeys(service, clientId, actor),
    () => removePeople(service, actor),
    () =>
      service.pool.query(
        `UPDATE "client" SET "disabled_at" = clock_timestamp() WHERE "id" = $1 AND "disabled_at" IS NULL`,
        [clientId],
      ),
  ];
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  if (failures.length > 0)
    throw new Error(`Something of the client ${clientId} is left; call this again.`, { cause: failures[0] });
}

async function withdrawOpen(service: Service, clientId: string): Promise<void> {
  const { rows } = await service.pool.query<{ id: string }>(
    `SELECT "id" FROM "approval" WHERE "client_id" = $1 AND "settled_at" IS NULL AND "consumed_at" IS NULL`,
    [clientId],
  );
  for (const { id } of rows) {
    const read = await readApproval(service.pool, id);
    if (read && (await endBySystem(service, service.pool, read, { kind: "withdraw", reason: "aborted" })))
      service.hub.announce(id);
  }
}

async function removeKeys(service: Service, clientId: string, actor: AuditActor): Promise<void> {
  const { rows } = await service.pool.query<{ keyId: string }>(
    `SELECT "key_id" AS "keyId" FROM "api_key" WHERE "client_id" = $1`,
    [clientId],
  );
  for (const { keyId } of rows) await revokeKey(service, keyId, actor);
  await service.pool.query(`DELETE FROM "api_key" WHERE "client_id" = $1 AND "revoked_at" IS NOT NULL`, [clientId]);
}

async function removePeople(service: Service, actor: AuditActor): Promise<void> {
  const { rows } = await service.pool.query<{ id: string }>(
    `SELECT "id" FROM "user" WHERE "name" = $1 AND "email" LIKE 'doctor-%@doctor.invalid'`,
    [scratchName],
  );
  for (const { id } of rows) {
    await disableUser(service, id, actor);
    await transact(service.pool, async (db) => {
      for (const table of ["session", "identity"]) await db.query(`DELETE FROM "${table}" WHERE "user_id" = $1`, [id]);
      await db.query(`DELETE FROM "user" WHERE "id" = $1`, [id]);
    });
  }
}

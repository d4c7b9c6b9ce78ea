import type { Command } from "commander";
import { type ListedSigningKey, listSigningKeys } from "@/lib/keys/list";
import { type RevokedKey, revokeSigningKey } from "@/lib/keys/revoke";
import { rotateSigningKey } from "@/lib/keys/rotate";
import { readInstant } from "./instant";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign keys …-signing`: the keys that this service signs with. */
export function addSigningKeyCommands(keys: Command, run: Run): void {
  keys
    .command("list-signing")
    .description("the keys that this service signs with, or has signed with")
    .action(() =>
      run(async () => {
        const listed = await withService(listSigningKeys);
        return { json: { signingKeys: listed }, lines: listed.map(keyLine) };
      }),
    );

  keys
    .command("rotate-signing")
    .description("publish a new signing key, which signs from ten minutes on, and retire those it has replaced before")
    .action(() =>
      run(async () => {
        const { kid, activeFrom, retired } = await withService((service) => rotateSigningKey(service, actor));
        return {
          json: { kid, activeFrom, retired },
          lines: [
            `${kid} is published and signs from ${activeFrom.toISOString()} on.`,
            ...retired.map(
              (old) => `${old} is retired: its private part is destroyed, what it signed stays verifiable.`,
            ),
          ],
        };
      }),
    );

  keys
    .command("revoke-signing")
    .description("revoke a stolen signing key and withdraw all that is open by it; another key signs at once")
    .argument("<kid>", "its id, as in the key set and in the header of what it signed")
    .option(
      "--since <time>",
      "when it was stolen (RFC 3339): what it signed from then on is unproven; now where left out",
    )
    .action((kid: string, { since }: { since?: string }) =>
      run(async () => {
        const from = since === undefined ? {} : { since: readInstant("--since", since) };
        const revoked = await withService(async (service) => {
          const result = await revokeSigningKey(service, { kid, ...from }, actor);
          // Sent after the announcements and on the same queue: with its answer they are all on their way, before the pool closes.
          await service.pool.query("SELECT 1");
          return result;
        });
        return { json: { ...revoked, successor: revoked.successor ?? null }, lines: revokedLines(revoked) };
      }),
    );
}

function keyLine({ kid, status, activeFrom, retiredAt, revokedAt }: ListedSigningKey): string {
  const ends = [
    ...(retiredAt ? [`retired ${retiredAt.toISOString()}`] : []),
    ...(revokedAt ? [`revoked from ${revokedAt.toISOString()} on`] : []),
  ];
  return [`${kid}  ${status}`, `active from ${activeFrom.toISOString()}`, ...ends].join("  ");
}

function revokedLines({ kid, revokedAt, changed, successor, withdrawn }: RevokedKey): string[] {
  if (!changed) return [`${kid} was revoked before, from ${revokedAt.toISOString()} on.`];
  const [count, verb] = withdrawn.length === 1 ? ["1 approval", "is"] : [`${withdrawn.length} approvals`, "are"];
  return [
    `${kid} is revoked: what it signed from ${revokedAt.toISOString()} on is unproven. Its private part is destroyed.`,
    `${count} that it had signed and that could still be decided or run ${verb} withdrawn.`,
    ...(successor === undefined ? [] : [`${successor} signs in its place from now on.`]),
    "Whoever verifies with a copy of the key set learns of it when that is read again, within 300 seconds.",
  ];
}

import type { Command } from "commander";
import { type Passkey, readPasskeysOfUser } from "@/lib/passkeys/passkey";
import { publicJwkOf } from "@/lib/passkeys/public-jwk";
import { removePasskeyOf } from "@/lib/passkeys/remove";
import type { Service } from "@/lib/process";
import { findUser } from "@/lib/users/find";
import type { Result } from "./output";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign users passkeys`: what `verify-receipt --credentials` takes, and the removal of one that was lost. */
export function addPasskeyCommand(users: Command, run: Run): void {
  users
    .command("passkeys")
    .description("a user's passkeys; with --json the file that verify-receipt --credentials takes")
    .argument("<user>", "e-mail address, or id (usr_…)")
    .option("--remove <id>", "remove this one at once: a device that was lost")
    .action((named: string, { remove }: { remove?: string }) =>
      run(() =>
        withService(async (service) => {
          const { id: userId } = await findUser(service.prisma, named);
          if (remove === undefined) return list(service, userId);
          await removePasskeyOf(service, { userId, credentialId: remove }, actor);
          const json = { userId, credentialId: remove, removed: true };
          return { json, lines: [`Removed from ${userId}: it signs nobody in and approves nothing any more.`] };
        }),
      ),
    );
}

async function list(service: Service, userId: string): Promise<Result> {
  const passkeys = await readPasskeysOfUser(service.prisma, service.secrets, userId);
  const credentials = passkeys.map(({ iss, sub, credentialId, publicKey, name, createdAt }) => {
    const { jwk } = publicJwkOf(publicKey);
    return { iss, sub, credentialId, publicKey: jwk, name, createdAt: createdAt.toISOString() };
  });
  return {
    json: { credentials },
    lines: [`${userId}:`, ...(passkeys.length ? passkeys.flatMap(linesOf) : ["  none"])],
  };
}

function linesOf({ credentialId, iss, sub, name, createdAt, lastUsedAt }: Passkey): string[] {
  return [
    `  ${credentialId}  ${name}`,
    `    of ${sub} at ${iss}`,
    `    added ${createdAt.toISOString()}, ${lastUsedAt ? `last used ${lastUsedAt.toISOString()}` : "not used yet"}`,
  ];
}

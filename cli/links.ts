import type { Command } from "commander";
import { findUser } from "@/lib/users/find";
import { type LinkedBy, type ListedIdentity, listIdentities } from "@/lib/users/identities";
import { linkIdentity } from "@/lib/users/link";
import { unlinkIdentity } from "@/lib/users/unlink";
import type { Run } from "./run";
import { actor, withService } from "./service";

type Named = { iss: string; sub: string };

/** `countersign users identities|link|unlink`: as whom a person may decide. */
export function addLinkCommands(users: Command, run: Run): void {
  users
    .command("identities")
    .description("a user's identities, and how each came to be theirs")
    .argument("<user>", "e-mail address, or id (usr_…)")
    .action((named: string) =>
      run(() =>
        withService(async (service) => {
          const { id: userId } = await findUser(service.prisma, named);
          const identities = await listIdentities(service, userId);
          return {
            json: { userId, identities },
            lines: [`${userId}:`, ...(identities.length === 0 ? ["  no identity"] : identities.map(identityLine))],
          };
        }),
      ),
    );

  named(users.command("link"))
    .description("let a user decide what is asked of an identity at another issuer: you vouch that it is theirs")
    .action((user: string, { iss, sub }: Named) =>
      run(async () => {
        const linked = await withService((service) => linkIdentity(service, { user, iss, sub }, actor));
        const verb = linked.changed ? "Linked" : "Already linked";
        return { json: linked, lines: [`${verb}: ${linked.userId} may decide for ${sub} at ${iss}.`] };
      }),
    );

  named(users.command("unlink"))
    .description("take a linked identity away from a user at once; what was decided stays decided")
    .action((user: string, { iss, sub }: Named) =>
      run(async () => {
        const unlinked = await withService((service) => unlinkIdentity(service, { user, iss, sub }, actor));
        const { userId, changed, endedSessions, removedPasskeys } = unlinked;
        const head = changed
          ? `Unlinked: ${userId} no longer decides for ${sub} at ${iss}.`
          : `${sub} at ${iss} was not linked to ${userId}.`;
        const also = [
          ...(endedSessions > 0 ? [`Sessions ended: ${endedSessions}.`] : []),
          ...(removedPasskeys > 0 ? [`Passkeys removed: ${removedPasskeys}.`] : []),
        ];
        return { json: unlinked, lines: [head, ...also] };
      }),
    );
}

function named(command: Command): Command {
  return command
    .argument("<user>", "e-mail address, or id (usr_…)")
    .requiredOption("--iss <issuer>", "issuer of the identity, exactly as in its tokens")
    .requiredOption("--sub <subject>", "subject at that issuer, exactly as in its tokens");
}

const origins: Record<LinkedBy, string> = {
  self: "local account",
  sign_in: "made at the first sign-in",
  admin: "linked by an admin: may decide",
  self_service: "linked by the person: signs in, decides only when signed in as it",
};

function identityLine({ iss, sub, origin, isAuthentic, lastSignInAt }: ListedIdentity): string {
  const seen = lastSignInAt === null ? "never signed in" : `last signed in ${lastSignInAt.toISOString()}`;
  const fault = isAuthentic ? "" : "; NOT AUTHENTIC: this row was not written with this deployment's secret";
  return `  ${sub} at ${iss}  ${origin === null ? "" : `${origins[origin]}; `}${seen}${fault}`;
}

import { Argument, type Command, Option } from "commander";
import { addUser, type Role, roles } from "@/lib/users/add";
import { disableUser } from "@/lib/users/disable";
import { findUser } from "@/lib/users/find";
import { linkIdentity } from "@/lib/users/link";
import { setPassword } from "@/lib/users/set-password";
import { setRoles } from "@/lib/users/set-roles";
import { readNewPassword } from "./prompt";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign users …`: the people who approve, audit and administer. */
export function addUserCommands(program: Command, run: Run): void {
  const users = program.command("users").description("people who approve, audit and administer");
  addAccountCommands(users, run);

  users
    .command("roles")
    .description("show a user's role, or set it: auditor and admin are disjoint")
    .argument("<email>")
    .addArgument(new Argument("[role]", "show it where left out").choices([...roles, "none"]))
    .action((email: string, role: Role | "none" | undefined) =>
      run(() =>
        withService(async (service) => {
          if (role === undefined) {
            const user = await findUser(service.prisma, email);
            return {
              json: { userId: user.id, roles: user.roles },
              lines: [`${user.email}: ${user.roles.join(", ") || "no role"}.`],
            };
          }
          const set = await setRoles(service, { email, roles: role === "none" ? [] : [role] }, actor);
          const { userId, before } = set;
          return {
            json: { userId, roles: set.roles, before },
            lines: [`Role of ${userId}: ${role} (before: ${before.join(", ") || "none"}).`],
          };
        }),
      ),
    );

  users
    .command("link")
    .description("let a user decide what is asked of an identity at another issuer: you vouch that it is theirs")
    .argument("<email>")
    .requiredOption("--iss <issuer>", "issuer of the identity, exactly as in its tokens")
    .requiredOption("--sub <subject>", "subject at that issuer, exactly as in its tokens")
    .action((email: string, { iss, sub }: { iss: string; sub: string }) =>
      run(() =>
        withService(async (service) => {
          const linked = await linkIdentity(service, { email, iss, sub }, actor);
          const verb = linked.changed ? "Linked" : "Already linked:";
          return { json: linked, lines: [`${verb} ${linked.userId} may now decide for ${sub} at ${iss}.`] };
        }),
      ),
    );
}

function addAccountCommands(users: Command, run: Run): void {
  users
    .command("add")
    .description("add a local account; the password is asked for, or read as one line from standard input")
    .requiredOption("--email <email>", "address to sign in with")
    .requiredOption("--name <name>", "name to be shown")
    .addOption(new Option("--roles <role>", "more than approving for oneself").choices(roles))
    .action(({ email, name, roles: role }: { email: string; name: string; roles?: Role }) =>
      run(async () => {
        const user = { email, name, password: await readNewPassword(), ...(role ? { roles: [role] } : {}) };
        const added = await withService((service) => addUser(service, user, actor));
        return {
          json: added,
          lines: [`Added ${added.userId}. Calls of this person carry:`, `  iss ${added.iss}`, `  sub ${added.sub}`],
        };
      }),
    );

  users
    .command("passwd")
    .description("replace a password and end the user's sessions; it is asked for, or read from standard input")
    .argument("<email>")
    .action((email: string) =>
      run(async () => {
        const password = await readNewPassword();
        const set = await withService((service) => setPassword(service, { email, password }, actor));
        return { json: set, lines: [`The password of ${set.userId} is replaced; ${ended(set.endedSessions)}.`] };
      }),
    );

  users
    .command("disable")
    .description("end a user's sessions at once and let them sign in no more")
    .argument("<email>")
    .action((email: string) =>
      run(async () => {
        const disabled = await withService((service) => disableUser(service, email, actor));
        const how = disabled.changed ? "is disabled" : "was disabled before";
        return { json: disabled, lines: [`${disabled.userId} ${how}; ${ended(disabled.endedSessions)}.`] };
      }),
    );
}

const ended = (count: number) => `${count} ${count === 1 ? "session" : "sessions"} ended`;

import { Argument, type Command } from "commander";
import { findUser } from "@/lib/users/find";
import { type Role, roles, rolesOf } from "@/lib/users/roles";
import { setRoles } from "@/lib/users/set-roles";
import { addLinkCommands } from "./links";
import { addPasskeyCommand } from "./passkeys";
import type { Run } from "./run";
import { actor, withService } from "./service";
import { addAccountCommands } from "./user-accounts";
import { addUserSessionsCommand } from "./user-sessions";

/** `countersign users …`: the people who approve, audit and administer. */
export function addUserCommands(program: Command, run: Run): void {
  const users = program.command("users").description("people who approve, audit and administer");
  addAccountCommands(users, run);
  addRolesCommand(users, run);
  addUserSessionsCommand(users, run);
  addLinkCommands(users, run);
  addPasskeyCommand(users, run);
}

function addRolesCommand(users: Command, run: Run): void {
  users
    .command("roles")
    .description("show a user's role, or set it: auditor and admin are disjoint")
    .argument("<user>", "e-mail address, or id (usr_…)")
    .addArgument(new Argument("[role]", "show it where left out").choices([...roles, "none"]))
    .action((user: string, role: Role | "none" | undefined) =>
      run(async () => {
        if (role === undefined) return showRoles(user);
        const given = role === "none" ? [] : [role];
        const set = await withService((service) => setRoles(service, { user, roles: given }, actor));
        return {
          json: set,
          lines: [`Role of ${set.userId}: ${role} (before: ${set.before.join(", ") || "none"}).`],
        };
      }),
    );
}

async function showRoles(named: string) {
  return withService(async (service) => {
    const user = await findUser(service.prisma, named);
    const counting = rolesOf(service.secrets, user);
    const ignored = user.roles.filter((role) => !counting.some((held) => held === role));
    return {
      json: { userId: user.id, roles: counting, ...(ignored.length > 0 ? { ignored } : {}) },
      lines: [
        `${user.email ?? user.id}: ${counting.join(", ") || "no role"}.`,
        ...(ignored.length > 0 ? [`${ignored.join(", ")} stands there, but was not set here: it does not count.`] : []),
      ],
    };
  });
}

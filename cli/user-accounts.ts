import { type Command, Option } from "commander";
import { addProviderUser, addUser } from "@/lib/users/add";
import { disableUser, enableUser } from "@/lib/users/disable";
import { type ListedUser, listUsers } from "@/lib/users/list";
import { type Role, roles } from "@/lib/users/roles";
import { setPassword } from "@/lib/users/set-password";
import { readNewPassword } from "./prompt";
import type { Run } from "./run";
import { actor, withService } from "./service";
import { endedSessions } from "./user-sessions";

/** `countersign users add|list|passwd|disable|enable`. */
export function addAccountCommands(users: Command, run: Run): void {
  addAddCommand(users, run);

  users
    .command("list")
    .description("everybody, with their role and how they sign in")
    .action(() =>
      run(async () => {
        const listed = await withService(listUsers);
        return { json: { users: listed }, lines: listed.length > 0 ? listed.map(userLine) : ["Nobody yet."] };
      }),
    );

  named(users.command("passwd"))
    .description("replace a password and end the user's sessions; it is asked for, or read from standard input")
    .action((user: string) =>
      run(async () => {
        const password = await readNewPassword();
        const set = await withService((service) => setPassword(service, { user, password }, actor));
        return { json: set, lines: [`The password of ${set.userId} is replaced; ${endedSessions(set)}.`] };
      }),
    );

  named(users.command("disable"))
    .description("end a user's sessions at once and let them sign in no more, in whatever way")
    .action((user: string) =>
      run(async () => {
        const disabled = await withService((service) => disableUser(service, user, actor));
        const how = disabled.changed ? "is disabled" : "was disabled before";
        return { json: disabled, lines: [`${disabled.userId} ${how}; ${endedSessions(disabled)}.`] };
      }),
    );

  named(users.command("enable"))
    .description("let a disabled user sign in again")
    .action((user: string) =>
      run(async () => {
        const enabled = await withService((service) => enableUser(service, user, actor));
        const how = enabled.changed ? "may sign in again" : "was not disabled";
        return { json: enabled, lines: [`${enabled.userId} ${how}.`] };
      }),
    );
}

type AddOptions = { email?: string; name: string; iss?: string; sub?: string; roles?: Role };

function addAddCommand(users: Command, run: Run): void {
  users
    .command("add")
    .description(
      "add a local account (--email; the password is asked for, or read as one line from standard input), or somebody who will sign in at a provider (--iss and --sub)",
    )
    .addOption(new Option("--email <email>", "address to sign in with").conflicts(["iss", "sub"]))
    .requiredOption("--name <name>", "name to be shown")
    .option("--iss <issuer>", "issuer at which the person signs in, exactly as in its tokens")
    .option("--sub <subject>", "subject at that issuer, exactly as in its tokens")
    .addOption(new Option("--roles <role>", "more than approving for oneself").choices(roles))
    .action(({ email, name, iss, sub, roles: role }: AddOptions, command: Command) =>
      run(async () => {
        const common = { name, ...(role ? { roles: [role] } : {}) };
        if (email !== undefined) {
          const user = { ...common, email, password: await readNewPassword() };
          return addedResult(await withService((service) => addUser(service, user, actor)));
        }
        if (iss === undefined || sub === undefined) command.error("error: name --email, or both --iss and --sub");
        return addedResult(await withService((service) => addProviderUser(service, { ...common, iss, sub }, actor)));
      }),
    );
}

const addedResult = (added: { userId: string; iss: string; sub: string }) => ({
  json: added,
  lines: [`Added ${added.userId}. Calls of this person carry:`, `  iss ${added.iss}`, `  sub ${added.sub}`],
});

const named = (command: Command) => command.argument("<user>", "e-mail address, or id (usr_…)");

function userLine(user: ListedUser): string {
  const { iss, sub } = user.identities[0] ?? { iss: "", sub: "" };
  const account = user.email ?? `${user.contact ?? sub} at ${iss}`;
  const facts = [...user.roles, ...(user.isDisabled ? ["disabled"] : [])].join(", ");
  const seen = user.lastSignInAt ? `last signed in ${user.lastSignInAt.toISOString()}` : "never signed in";
  return `${user.userId}  ${account}  ${user.name}${facts ? `  ${facts}` : ""}  ${seen}`;
}

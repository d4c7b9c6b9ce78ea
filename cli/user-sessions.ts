import type { Command } from "commander";
import type { Service } from "@/lib/process";
import { endUserSessions } from "@/lib/sessions/end-all";
import { type ListedSession, listSessions } from "@/lib/sessions/list";
import { findUser } from "@/lib/users/find";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign users sessions`: where a user is signed in, and signing them out everywhere. */
export function addUserSessionsCommand(users: Command, run: Run): void {
  users
    .command("sessions")
    .description("where a user is signed in; or end all of it at once")
    .argument("<user>", "e-mail address, or id (usr_…)")
    .option("--end", "end them all; the user may sign in again")
    .action((user: string, { end }: { end?: true }) =>
      run(() =>
        withService(async (service) => {
          if (!end) return show(service, user);
          const ended = await endUserSessions(service, user, actor);
          return { json: ended, lines: [`${ended.userId}: ${endedSessions(ended)}.`] };
        }),
      ),
    );
}

/** As the end of a sentence. */
export const endedSessions = ({ endedSessions: count }: { endedSessions: number }) =>
  `${count} ${count === 1 ? "session" : "sessions"} ended`;

async function show(service: Service, named: string) {
  const { id: userId } = await findUser(service.prisma, named);
  const sessions = (await listSessions(service, userId)).map(({ isCurrent: _, ...session }) => session);
  return {
    json: { userId, sessions },
    lines: [`${userId}:`, ...(sessions.length > 0 ? sessions.map(sessionLine) : ["  not signed in"])],
  };
}

function sessionLine({ name, address, userAgent, createdAt, lastSeenAt }: Omit<ListedSession, "isCurrent">): string {
  const from = address ?? "an unknown address";
  const times = `signed in ${createdAt.toISOString()}; last seen ${lastSeenAt.toISOString()}`;
  return `  ${name}  from ${from}; ${times}; ${userAgent ?? "no user agent"}`;
}

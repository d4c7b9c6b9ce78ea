import { type Command, Option } from "commander";
import { freezeClient, unfreezeClient } from "@/lib/clients/freeze";
import { liftPersonFreeze } from "@/lib/clients/lift-freeze";
import { listPersonFreezes, type PersonFreeze } from "@/lib/clients/list-freezes";
import { findUser } from "@/lib/users/find";
import { listIdentities } from "@/lib/users/identities";
import { namedUserWords } from "./named-user-words";
import type { Run } from "./run";
import { actor, withService } from "./service";

/** `countersign clients freeze|freezes|unfreeze`: stopping an MCP server, for everybody or as people have done for themselves. */
export function addFreezeCommands(clients: Command, run: Run): void {
  clients
    .command("freeze")
    .description("stop an MCP server at once: withdraw all that it has asked and not consumed, and refuse new requests")
    .argument("<client>", "its id (cli_…)")
    .action((clientId: string) => run(() => freeze(clientId)));

  clients
    .command("freezes")
    .description("who has frozen an MCP server for themselves by saying that they did not ask for something")
    .argument("[client]", "its id (cli_…); every one where left out")
    .action((clientId: string | undefined) => run(() => list(clientId)));

  clients
    .command("unfreeze")
    .description("let a frozen MCP server ask again; what was withdrawn stays withdrawn")
    .argument("<client>", "its id (cli_…)")
    .addOption(
      new Option(
        "--person <user>",
        "lift what this person (e-mail address or usr_…) has put up for themselves instead",
      ).conflicts("freeze"),
    )
    .option("--freeze <id>", "lift this one freeze of a person (frz_…, see clients freezes) instead")
    .action((clientId: string, { person, freeze: freezeId }: { person?: string; freeze?: string }) =>
      run(() => {
        if (freezeId !== undefined) return liftOne(clientId, freezeId);
        return person === undefined ? liftForEverybody(clientId) : liftAll(clientId, person);
      }),
    );
}

async function freeze(clientId: string) {
  const frozen = await withService(async (service) => {
    const result = await freezeClient(service, clientId, actor);
    // Sent after the announcements and on the same queue: with its answer they are all on their way, before the pool closes.
    await service.pool.query("SELECT 1");
    return result;
  });
  const count = frozen.withdrawn.length;
  const words = frozen.changed ? "is frozen" : "was frozen before";
  return {
    json: frozen,
    lines: [`${clientId} ${words}; ${count} ${count === 1 ? "approval" : "approvals"} withdrawn.`],
  };
}

async function list(clientId: string | undefined) {
  const filter = clientId === undefined ? {} : { clientId };
  const freezes = await withService((service) => listPersonFreezes(service.pool, filter));
  return {
    json: { freezes },
    lines: freezes.length === 0 ? ["Nobody has frozen it for themselves."] : freezes.map(freezeLine),
  };
}

async function liftForEverybody(clientId: string) {
  const lifted = await withService((service) => unfreezeClient(service, clientId, actor));
  return { json: lifted, lines: [`${clientId} ${lifted.changed ? "may ask again" : "was not frozen"}.`] };
}

async function liftOne(clientId: string, freezeId: string) {
  const lifted = await withService((service) => liftPersonFreeze(service, { freezeId, clientId }, actor));
  const words = lifted.changed ? "is lifted" : "was over before";
  return { json: lifted, lines: [`${freezeId} ${words}.`] };
}

/** Of every identity of the person. */
async function liftAll(clientId: string, person: string) {
  const lifted = await withService(async (service) => {
    const { id: userId } = await findUser(service.prisma, person);
    const subjects = await listIdentities(service, userId);
    const theirs = await listPersonFreezes(service.pool, { clientId, subjects });
    for (const { freezeId } of theirs) await liftPersonFreeze(service, { freezeId, clientId }, actor);
    return { clientId, userId, changed: theirs.length > 0, lifted: theirs.map(({ freezeId }) => freezeId) };
  });
  const words = lifted.changed ? "may ask again" : "was not frozen by";
  return { json: lifted, lines: [`${clientId} ${words} ${lifted.userId}.`] };
}

function freezeLine({ freezeId, clientId, clientName, subject, user, until }: PersonFreeze): string {
  const whose = user ? `${namedUserWords(user)}, ` : "";
  return `${freezeId}  ${clientName} (${clientId})  by ${whose}${subject.sub} at ${subject.iss}  until ${until.toISOString()}`;
}

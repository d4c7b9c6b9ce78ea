import type { Command } from "commander";
import type { Config } from "@/lib/config";
import { startEmbedded } from "@/lib/embedded/start";
import { dropPreviousFile, rotatedAt, rotateSecretFile } from "@/lib/secrets/rotate-file";
import { type RotatedRows, rotateRows } from "@/lib/secrets/rotate-rows";
import { CommandError } from "./output";
import type { Run } from "./run";
import { actor, readEnvironment, withService } from "./service";

/** `countersign secret …`: putting another secret in the place of COUNTERSIGN_SECRET. */
export function addSecretCommands(program: Command, run: Run): void {
  const secret = program.command("secret").description("rotation of COUNTERSIGN_SECRET, old and new side by side");

  secret
    .command("rotate")
    .description(
      "make a new secret in the data folder, keep the old one beside it, and rotate the rows; stop the service first",
    )
    .action(() =>
      run(async () => {
        const config = requireFile("rotate");
        await requireStopped(config);
        if (!(await rotateSecretFile(config.dataDir)))
          throw new CommandError(
            "rotation_under_way",
            "A previous secret is kept already: `secret rotate-rows`, then `secret drop-previous`, end that rotation first.",
          );
        const rotated = await withService((service) => rotateRows(service, actor));
        return {
          json: rotated,
          lines: ["A new secret is in its place; the old one is kept beside it.", ...rowLines(rotated), ...keepLines],
          ...exitCode(rotated),
        };
      }),
    );

  secret
    .command("rotate-rows")
    .description("write every lasting row that rests on the previous secret anew with the current one; safe to repeat")
    .action(() =>
      run(async () => {
        const rotated = await withService((service) => {
          if (!service.secrets.previous)
            throw new CommandError(
              "no_previous_secret",
              "There is no previous secret: set COUNTERSIGN_SECRET_PREVIOUS.",
            );
          return rotateRows(service, actor);
        });
        return { json: rotated, lines: [...rowLines(rotated), ...keepLines], ...exitCode(rotated) };
      }),
    );

  addDropCommand(secret, run);
}

function addDropCommand(secret: Command, run: Run): void {
  secret
    .command("drop-previous")
    .description("delete the previous secret from the data folder, once nothing lasting needs it")
    .option("--now", "within a day of the rotation too: what was under way then stops working")
    .action(({ now }: { now?: true }) =>
      run(async () => {
        const { dataDir } = requireFile("drop-previous");
        const since = await rotatedAt(dataDir);
        if (!since) throw new CommandError("no_previous_secret", "There is no previous secret in the data folder.");
        if (!now && Date.now() - since.getTime() < dayMs)
          throw new CommandError(
            "too_early",
            `The secret was rotated at ${since.toISOString()}. Requests that wait, their codes and retries rest on the old one for a day; --now drops it all the same.`,
          );
        const left = await withService((service) => rotateRows(service, actor, { isTrial: true }));
        if (left.rewritten > 0)
          throw new CommandError(
            "rows_left",
            `Rows rest on it: ${countWords(left)}. Run \`secret rotate-rows\` first.`,
          );
        if (!(await dropPreviousFile(dataDir, since)))
          throw new CommandError("rotated_meanwhile", "Somebody else ended this rotation meanwhile; look again.");
        return {
          json: { dropped: true },
          lines: ["The previous secret is deleted. Start the service again to have it forgotten."],
        };
      }),
    );
}

/** How many rows of which tables, as "1 of service, 3 of identities". */
function countWords({ tables }: RotatedRows): string {
  const left = tables.filter(({ rewritten }) => rewritten > 0);
  return left.map(({ table, rewritten }) => `${rewritten} of ${table}`).join(", ");
}

/** What lasts no longer than this rests on the previous secret still: an approval's time, its code, and an idempotency key. */
const dayMs = 24 * 3_600_000;

const keepLines = [
  "Keep the previous secret for a day, so that what is under way goes on; for seven days, so that nobody has to sign in again.",
];

function rowLines({ tables, unverified, retiredKeys }: RotatedRows): string[] {
  return [
    ...tables.map(({ table, rewritten }) => `  ${table}: ${rewritten} rewritten`),
    ...retiredKeys.map((kid) => `RETIRED, for its private part is of neither secret: signing key ${kid}`),
    ...unverified.map(({ table, name }) => `NOT rewritten, of neither secret, so it does not count: ${table}, ${name}`),
  ];
}

const exitCode = ({ unverified, retiredKeys }: RotatedRows) =>
  unverified.length + retiredKeys.length === 0 ? {} : { exitCode: 1 };

/** The configuration of a deployment whose secret lies in the data folder. */
function requireFile(command: string): Config {
  const { config } = readEnvironment();
  if (config.secret)
    throw new CommandError(
      "secret_from_environment",
      command === "rotate"
        ? "The secret comes from COUNTERSIGN_SECRET: set a new one there and the old one as COUNTERSIGN_SECRET_PREVIOUS, start every process again, then run `secret rotate-rows`."
        : "The secret comes from COUNTERSIGN_SECRET: take COUNTERSIGN_SECRET_PREVIOUS away and start every process again.",
    );
  return config;
}

/** A process that goes on with the old secret could not read what others write with the new one. */
async function requireStopped(config: Config): Promise<void> {
  const { log } = readEnvironment();
  const database = await startEmbedded({ dataDir: config.dataDir, log });
  await database.stop();
  if (!database.owned)
    throw new CommandError("in_use", "The service is running: stop it, run this, and start it again.");
}

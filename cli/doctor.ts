import type { Command } from "commander";
import { diagnose } from "@/lib/doctor/diagnose";
import { explainSubject, type SubjectReport } from "@/lib/users/explain-subject";
import { checkLine, writesWords } from "./doctor-checks";
import { linkWords, obstacleWords, remarkWords, wayWords } from "./doctor-words";
import { namedUserWords } from "./named-user-words";
import { CommandError, type Result } from "./output";
import type { Run } from "./run";
import { actor, doctorEnvironment, untilInterrupted, withService } from "./service";

type DoctorFlags = { url?: string; readOnly?: true; slow?: true };

/** `countersign doctor`: whether this deployment is in order. `countersign doctor …`: why something does not work. */
export function addDoctorCommand(program: Command, run: Run): void {
  const doctor = program
    .command("doctor")
    .description("look this deployment over, line by line; exits with 1 where something FAILED")
    .option("--url <url>", "where the running service is asked (default: COUNTERSIGN_URL)")
    .option("--read-only", "leave out the checks that write: the scratch approval, and whose address is counted")
    .option("--slow", "hold a wait for half a minute too, to see whether the proxy cuts it")
    .action((flags: DoctorFlags) => run(() => examine(flags, program.opts<{ json?: boolean }>().json === true)));

  doctor
    .command("subject")
    .description(
      "who the person of a subject is, how they can sign in, and why a page would refuse them; exits with 1 if so",
    )
    .argument("<iss>", "issuer, exactly as in the token of the call")
    .argument("<sub>", "subject, exactly as in the token of the call")
    .action((iss: string, sub: string) =>
      run(async () => describe(await withService((service) => explainSubject(service, { iss, sub })))),
    );
}

/** What will be written is said before. */
async function examine(flags: DoctorFlags, asJson: boolean): Promise<Result & { exitCode?: number }> {
  if (flags.url !== undefined && !/^https?:\/\/[^/]/.test(flags.url))
    throw new CommandError("bad_url", "--url must be an address such as https://approve.example.com.");
  const { env, log } = doctorEnvironment();
  if (!asJson && !flags.readOnly) process.stdout.write(`${writesWords}\n`);
  const checks = await untilInterrupted(async (interrupted) => {
    const work = diagnose({
      env,
      log,
      actor,
      url: flags.url,
      isReadOnly: flags.readOnly === true,
      isSlow: flags.slow === true,
    });
    // What it has made is taken away again before this ends.
    return Promise.race([work, interrupted]).finally(() => work.catch(() => undefined));
  });
  return {
    json: { checks },
    lines: checks.map(checkLine),
    ...(checks.some(({ status }) => status === "failed") ? { exitCode: 1 } : {}),
  };
}

function describe(report: SubjectReport): Result & { exitCode?: number } {
  const { canDecide, obstacles, remarks, user, ways, iss, sub } = report;
  const who = user
    ? `${sub} at ${iss} is ${namedUserWords(user)}${user.isDisabled ? ", disabled" : ""}: ${linkWords(user.linkedBy)}.`
    : `${sub} at ${iss} is nobody here so far.`;
  return {
    json: { ...report, user: user ?? null },
    lines: [
      who,
      ...(ways.length > 0 ? ["Ways to sign in:", ...ways.map((way) => `  ${wayWords(way)}`)] : []),
      canDecide ? "They can decide what is asked of them." : "They could NOT decide what is asked of them:",
      ...obstacles.map((obstacle) => `  ${obstacleWords(obstacle)}`),
      ...(remarks.length > 0 ? ["Besides:", ...remarks.map((remark) => `  ${remarkWords(remark, report)}`)] : []),
    ],
    ...(canDecide ? {} : { exitCode: 1 }),
  };
}

import type { Command } from "commander";
import { explainSubject, type SubjectReport } from "@/lib/users/explain-subject";
import { linkWords, obstacleWords, remarkWords, wayWords } from "./doctor-words";
import { namedUserWords } from "./named-user-words";
import type { Result } from "./output";
import type { Run } from "./run";
import { withService } from "./service";

/** `countersign doctor …`: why something does not work, in words. */
export function addDoctorCommand(program: Command, run: Run): void {
  const doctor = program.command("doctor").description("find out why something does not work");

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

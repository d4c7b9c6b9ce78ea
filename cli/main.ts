import path from "node:path";
import { Command } from "commander";
import { addClientConfigCommand } from "./client-config";
import { addClientCommands } from "./clients";
import { addDoctorCommand } from "./doctor";
import { addKeyCommands } from "./keys";
import { addMigrateCommand } from "./migrate";
import { printFailure } from "./output";
import { addReceiptCommand } from "./receipts";
import { createRun } from "./run";
import { addSecretCommands } from "./secret";
import { addUserCommands } from "./users";
import { addWebhookCommands } from "./webhooks";

/** The `countersign` command: what an admin does at the machine of a deployment. Sets the exit code: 1 failed, 2 called wrongly. */
async function main(argv: string[]): Promise<void> {
  // Known before parsing, so that a wrong call is answered as JSON too.
  const asJson = argv.includes("--json");
  const program = createProgram(asJson);
  try {
    await program.parseAsync(argv, { from: "user" });
  } catch (error) {
    process.exitCode = printFailure(error, asJson);
  }
}

function createProgram(asJson: boolean): Command {
  const program = new Command("countersign")
    .description("Administer a Countersign deployment: people, MCP servers, keys, receipts.")
    .option("--json", "print one JSON object")
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(asJson ? { writeErr: () => undefined } : {})
    .exitOverride()
    .showHelpAfterError("(--help shows how to call it)");
  const run = createRun(program);
  addUserCommands(program, run);
  addClientCommands(program, run);
  addClientConfigCommand(program, run);
  addKeyCommands(program, run);
  addMigrateCommand(program, run);
  addReceiptCommand(program, run);
  addDoctorCommand(program, run);
  addSecretCommands(program, run);
  addWebhookCommands(program, run);
  return program;
}

// Relative paths in the configuration mean the same as for `npm start`, from wherever this is called.
process.chdir(path.resolve(import.meta.dirname, ".."));
await main(process.argv.slice(2));

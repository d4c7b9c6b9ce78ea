import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { CommandError } from "./output";
import { readInput } from "./prompt";

const maxBytes = 1_048_576;

/** The text of a file named on the command line, relative to where the command was called, or of standard input for `-`. Errors: `unreadable`. */
export async function readText(file: string): Promise<string> {
  if (file === "-") return readInput(maxBytes);
  const place = path.resolve(calledFrom, file);
  try {
    if ((await stat(place)).size > maxBytes) throw new Error(`exceeds ${maxBytes} bytes`);
    return new TextDecoder("utf-8", { fatal: true }).decode(await readFile(place));
  } catch (error) {
    throw new CommandError("unreadable", `${file} cannot be read: ${(error as Error).message}`);
  }
}

// Read before the program enters its own folder.
const calledFrom = process.cwd();

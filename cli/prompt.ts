import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./output";

const maxInputBytes = 1_048_576;

/**
 * A new password: typed twice and not shown where standard input is a terminal, else its first line, as soon as it is there. Errors:
 * `no_input`, `not_the_same`, `interrupted`, and those of `readInput`.
 */
export async function readNewPassword(): Promise<string> {
  if (process.stdin.isTTY) return askTwice();
  const line = await readUntil(maxInputBytes, (chunk) => chunk.findIndex((byte) => byte === 0x0a || byte === 0x0d));
  if (line === "") throw new CommandError("no_input", "Pass the password as one line on standard input.");
  return line;
}

/** Everything on standard input, as UTF-8 text of at most `maxBytes`. Errors: `input_too_large`, `input_not_utf8`. */
export function readInput(maxBytes = maxInputBytes): Promise<string> {
  return readUntil(maxBytes, () => -1);
}

/** Ends where `findEnd` finds its place in a chunk, or with the input. */
async function readUntil(maxBytes: number, findEnd: (chunk: Buffer) => number): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const read of process.stdin) {
    const chunk = read as Buffer;
    const end = findEnd(chunk);
    chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
    length += chunk.length;
    if (length > maxBytes) throw new CommandError("input_too_large", `Standard input exceeds ${maxBytes} bytes.`);
    if (end !== -1) break;
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CommandError("input_not_utf8", "Standard input is not UTF-8 text.");
  }
}

/** Asks on standard error, so that standard output stays the result alone. One reader for both, so that no line is lost between. */
async function askTwice(): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  let ending = new CommandError("no_input", "No password was typed.");
  reader.once("SIGINT", () => {
    ending = new CommandError("interrupted", "Interrupted; nothing was changed.");
    reader.close();
  });
  const lines = reader[Symbol.asyncIterator]();
  const ask = async (question: string): Promise<string> => {
    process.stderr.write(question);
    const line = await lines.next();
    process.stderr.write("\n");
    if (line.done) throw ending;
    return line.value;
  };
  try {
    const password = await ask("New password: ");
    if ((await ask("The same again: ")) === password) return password;
  } finally {
    reader.close();
  }
  throw new CommandError("not_the_same", "The two passwords are not the same.");
}

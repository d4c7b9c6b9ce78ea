import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CommandError } from "./output";

/**
 * A new password: typed twice and not shown where standard input is a terminal, else its first line. Errors: `no_input`,
 * `not_the_same`, `interrupted`.
 */
export async function readNewPassword(): Promise<string> {
  if (!process.stdin.isTTY) return firstLine(await readInput());
  const password = await ask("New password: ");
  if ((await ask("The same again: ")) !== password)
    throw new CommandError("not_the_same", "The two passwords are not the same.");
  return password;
}

/** Everything on standard input, as UTF-8 text of at most `maxBytes`. Errors: `input_too_large`, `input_not_utf8`. */
export async function readInput(maxBytes = 1_048_576): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    length += (chunk as Buffer).length;
    if (length > maxBytes) throw new CommandError("input_too_large", `Standard input exceeds ${maxBytes} bytes.`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    throw new CommandError("input_not_utf8", "Standard input is not UTF-8 text.");
  }
}

function firstLine(text: string): string {
  const line = /^[^\r\n]*/.exec(text)?.[0] ?? "";
  if (line === "") throw new CommandError("no_input", "Pass the password as one line on standard input.");
  return line;
}

/** Asks on standard error, so that standard output stays the result alone. */
function ask(question: string): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 });
  process.stderr.write(question);
  return new Promise<string>((resolve, reject) => {
    lines.once("line", resolve);
    lines.once("SIGINT", () => reject(new CommandError("interrupted", "Interrupted; nothing was changed.")));
    lines.once("close", () => reject(new CommandError("no_input", "No password was typed.")));
  }).finally(() => {
    lines.removeAllListeners("close");
    lines.close();
    process.stderr.write("\n");
  });
}

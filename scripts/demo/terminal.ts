import { createInterface } from "node:readline/promises";

export function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** True until the person has enough, or there is nobody to ask. */
export async function askAgain(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question("\nAnother round? [Enter = yes, q = quit] ");
  terminal.close();
  return !/^(q|n)/i.test(answer.trim());
}

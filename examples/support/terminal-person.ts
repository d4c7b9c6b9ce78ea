import { createApiClient } from "@countersign/mcp";
import type { Person, Setting } from "./setting";

const BUTTONS = { accept: "Approve", decline: "Decline", cancel: "Close without deciding" };

/** You: says in the terminal what to open and which button to press, and waits until you have. */
export function terminalPerson({ url, apiKey }: Pick<Setting, "url" | "apiKey">): Person {
  const api = createApiClient({ url, apiKey });
  return async ({ approvalId, message }, choice, note) => {
    console.log(`\n${message ?? `It waits in the inbox: ${url}/inbox`}`);
    console.log(`  → Press “${BUTTONS[choice]}”${note === undefined ? "" : `, with the note: ${note}`}`);
    let answer = await api.wait(approvalId, { seconds: 25 });
    while (answer.next === "wait") answer = await api.wait(approvalId, { seconds: 25 });
    if (answer.decision !== choice) throw new Error(`This check needed “${choice}”; it ended as ${answer.status}.`);
  };
}

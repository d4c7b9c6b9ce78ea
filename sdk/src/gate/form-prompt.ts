import { randomUUID } from "node:crypto";
import { NotRun } from "./endings";
import type { AskingCall } from "./guarded-call";
import type { ClientAnswer, FormPrompt, Served } from "./mcp-call";
import type { GateParts } from "./parts";
import type { ToolResult } from "./spec";
import { formWords, type Locale } from "./texts";

const INPUT = "confirm";
const FIELD = "decision";
const RUN = "run";
const DO_NOT = "do_not_run";
const MAX_MESSAGE_CHARACTERS = 500;

/**
 * Asks the user in a form that the MCP client shows: one required choice without a default, since a form that can be sent as it comes is
 * sent by programs too. `undefined`: they chose to run it. What comes back through rounds counts only for this caller, tool and
 * arguments, once, for five minutes.
 * @throws NotRun `form_required`, `form_declined`, `form_cancelled`, `form_unanswered`, `elicitation_failed`, `invalid_state`
 */
export async function confirmInForm<Ctx>(
  { forms, settings }: Pick<GateParts<Ctx>, "forms"> & { settings: { locale: Locale } },
  call: AskingCall,
  message: string,
): Promise<Served<ToolResult> | undefined> {
  const { mcp } = call;
  const prompt = promptOf(plainLine(message), settings.locale);
  if (mcp.era === "rounds" && mcp.state !== undefined) {
    await forms.spend(call, mcp.state);
    heed(mcp.answerTo(INPUT));
    return undefined;
  }
  if (!mcp.can.form) throw new NotRun("form_required");
  if (mcp.era === "rounds") return { kind: "prompt", key: INPUT, prompt, state: await forms.issue(call) };
  const answer = await mcp.prompt(prompt, { elicitationId: randomUUID(), signal: mcp.signal }).catch(() => {
    throw new NotRun(mcp.signal.aborted ? "interrupted" : "elicitation_failed");
  });
  heed(answer);
  return undefined;
}

/** One line without a link, whatever the arguments put into it: a form is no place to lead anybody elsewhere (S26). */
function plainLine(message: string): string {
  const line = message.replace(/\s+/gu, " ").replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu, "");
  const unlinked = line.replace(/:\/\//g, ": //").trim();
  return Array.from(unlinked).slice(0, MAX_MESSAGE_CHARACTERS).join("");
}

function promptOf(message: string, locale: Locale): FormPrompt {
  const words = formWords(locale);
  const options = [
    { value: DO_NOT, title: words.doNotRun },
    { value: RUN, title: words.run },
  ];
  return { mode: "form", message, field: FIELD, title: words.title, options };
}

/** Anything but the one right value in the one field is no yes. */
function heed(answer: ClientAnswer | undefined): void {
  if (answer === undefined) throw new NotRun("form_unanswered");
  if (answer.action === "cancel") throw new NotRun("form_cancelled");
  if (answer.action === "decline" || answer.content[FIELD] === DO_NOT) throw new NotRun("form_declined");
  if (answer.content[FIELD] !== RUN || Object.keys(answer.content).length !== 1) throw new NotRun("form_unanswered");
}

/**
 * The main job on real parts: starts Countersign and an MCP server, then acts as the agent, and shows what a person decides.
 * `npm run demo` leaves the person to you; `npm run demo -- --auto` plays the person in headless Chromium and exits 0 only if an accept
 * ran the tool once and a decline did not run it.
 */

import { playPerson } from "./demo/person";
import { playRound } from "./demo/round";
import { startStage } from "./demo/stage";
import { askAgain, say } from "./demo/terminal";

const isAuto = process.argv.includes("--auto");
say("Starting Countersign with its embedded database, and an MCP server of a small CRM …");
const stage = await startStage();
let isStopping = false;
const stop = async (code: number) => {
  if (isStopping) return;
  isStopping = true;
  await stage.stop();
  process.exit(code);
};
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => void stop(130));

if (isAuto) {
  const accepted = await playRound(stage, (prompt) => playPerson(stage, prompt, "Approve"));
  const declined = await playRound(stage, (prompt) => playPerson(stage, prompt, "Decline"));
  const isRight =
    accepted.decision === "accept" &&
    accepted.isGenuine &&
    accepted.ran === 1 &&
    declined.decision === "decline" &&
    declined.isGenuine &&
    declined.ran === 0;
  say(isRight ? "The accept ran the tool once; the decline did not run it." : "Something is wrong: see above.");
  await stop(isRight ? 0 : 1);
}
do await playRound(stage);
while (await askAgain());
await stop(0);

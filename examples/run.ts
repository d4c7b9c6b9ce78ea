import type { Setting } from "./support/setting";
import { terminalPerson } from "./support/terminal-person";

type Check = (setting: Setting) => Promise<void>;

const examples: Readonly<Record<string, () => Promise<{ check: Check }>>> = {
  "url-flow": () => import("./url-flow/check"),
  "inbox-fallback": () => import("./inbox-fallback/check"),
  "form-gate": () => import("./form-gate/check"),
  "plan-apply": () => import("./plan-apply/check"),
  draft: () => import("./draft/check"),
  "openai-approval": () => import("./openai-approval/check"),
  "webhook-resume": () => import("./webhook-resume/check"),
};

/**
 * `node --import tsx examples/run.ts NAME` runs the check of one example against your Countersign, with you as the person. Settings, all
 * required and in the environment: COUNTERSIGN_URL, COUNTERSIGN_API_KEY, COUNTERSIGN_CLIENT_ID, CALLER_ISS and CALLER_SUB. For
 * `webhook-resume` also WEBHOOK_PORT and WEBHOOK_SECRET, where events are to come from there.
 */
async function main(name: string, env: NodeJS.ProcessEnv): Promise<void> {
  const load = examples[name];
  if (load === undefined) throw new Error(`Give the name of an example: ${Object.keys(examples).join(", ")}`);
  const service = { url: required(env, "COUNTERSIGN_URL"), apiKey: required(env, "COUNTERSIGN_API_KEY") };
  const caller = { iss: required(env, "CALLER_ISS"), sub: required(env, "CALLER_SUB") };
  const { check } = await load();
  await check({
    ...service,
    clientId: required(env, "COUNTERSIGN_CLIENT_ID"),
    caller,
    person: terminalPerson(service),
    ...webhooksFrom(env),
  });
  console.log(`\n${name}: everything was as it should be.`);
}

function webhooksFrom(env: NodeJS.ProcessEnv) {
  const secret = env["WEBHOOK_SECRET"];
  return secret ? { webhooks: { secret, port: Number(required(env, "WEBHOOK_PORT")) } } : {};
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

main(process.argv[2] ?? "", process.env).catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});

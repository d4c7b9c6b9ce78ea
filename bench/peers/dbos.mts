import { DBOS, type WorkflowHandle } from "@dbos-inc/dbos-sdk";
import { serveFront, setting } from "./front.mts";

// A workflow that waits for a message, over DBOS's tables in PostgreSQL. `startWorkflow` resolves once its row is committed; `send`
// once the message is. The caller who waits holds the handle of the workflow in the same process.
const topic = "decision";
const dayInSeconds = 86_400;

const approve = DBOS.registerWorkflow(
  async (_body: string) => (await DBOS.recv<string>(topic, { timeoutSeconds: dayInSeconds })) ?? "expired",
  { name: "approve" },
);

DBOS.setConfig({ name: "bench", systemDatabaseUrl: setting("DATABASE_URL"), logLevel: "error" });
await DBOS.launch();

const handles = new Map<string, WorkflowHandle<string>>();
serveFront({
  create: async (body) => {
    const handle = await DBOS.startWorkflow(approve)(body);
    handles.set(handle.workflowID, handle);
    return handle.workflowID;
  },
  decide: (id) => DBOS.send(id, "accept", topic),
  wait: async (id) => (await handles.get(id)?.getResult()) ?? "unknown",
});

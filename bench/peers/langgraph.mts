import { Annotation, Command, END, interrupt, START, StateGraph } from "@langchain/langgraph";
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import pg from "pg";
import { serveFront, setting } from "./front.mts";

// A graph of one node that interrupts, with its checkpoints in PostgreSQL. `invoke` resolves once the interrupt is stored. The process
// that takes the click resumes the graph; the caller who waits is held in its memory, for LangGraph has no waiting of its own.
const pool = new pg.Pool({ connectionString: setting("DATABASE_URL"), max: 10 });
const checkpointer = new PostgresSaver(pool);
await checkpointer.setup();

const State = Annotation.Root({ body: Annotation<string>(), decision: Annotation<string>() });
const graph = new StateGraph(State)
  .addNode("approve", ({ body }) => ({ decision: interrupt<string, string>(body) }))
  .addEdge(START, "approve")
  .addEdge("approve", END)
  .compile({ checkpointer });

// "exit" stores once, when the graph stops at its interrupt: fewer writes than the default, and as durable when `invoke` resolves.
const on = (id: string) => ({ configurable: { thread_id: id }, durability: "exit" as const });
const parked = new Map<string, (decision: string) => void>();
serveFront({
  create: async (body) => {
    const id = crypto.randomUUID();
    await graph.invoke({ body }, on(id));
    return id;
  },
  decide: async (id) => {
    const { decision } = await graph.invoke(new Command({ resume: "accept" }), on(id));
    parked.get(id)?.(decision);
    parked.delete(id);
  },
  wait: (id) => new Promise((resolve) => parked.set(id, resolve)),
});

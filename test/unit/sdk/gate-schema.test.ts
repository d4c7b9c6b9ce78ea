import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { startFakeService } from "./fake-service";
import { askRound as ask, sendRound } from "./raw-round";
import { startSmallServer } from "./small-server";

describe("a tool whose schema changes what the model sent", () => {
  it("I3: defaults, stripped keys and transforms are applied before anything is shown: what the handler receives is what was signed", async () => {
    const service = await startFakeService();
    onTestFinished(service.close);
    const got: unknown[] = [];
    const inputSchema = z.object({
      name: z.string().trim(),
      force: z.boolean().default(false),
      limits: z.object({ max: z.number().default(10) }).prefault({}),
    });
    const server = await startSmallServer({
      service,
      addTools: (mcp, gate) => {
        const presentation = () => ({ title: "Do it" });
        gate.guard({ server: mcp, tool: "do_it", tier: 3, inputSchema, presentation }, (args) => {
          got.push(args);
          return { content: [] };
        });
      },
    });
    onTestFinished(server.close);
    const call = { url: server.url, tool: "do_it", args: { name: "  Apollo ", sneaky: "extra", limits: { other: 1 } } };
    const requestState = await ask(call);
    const signed = service.approvals.get(requestState)?.action.arguments;
    expect(signed).toEqual({ name: "Apollo", force: false, limits: { max: 10 } });
    await service.decide(requestState, "accept");
    await sendRound({ ...call, requestState });
    expect(got).toEqual([signed]);
  });
});

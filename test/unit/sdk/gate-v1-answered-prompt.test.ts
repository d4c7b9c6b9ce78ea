import { expect, it, onTestFinished } from "vitest";
import { endingOf, textOf } from "./crm";
import { startFakeService } from "./fake-service";
import { BOTH_MODES, clientKinds } from "./mcp-clients";
import { startV1Server } from "./v1-server";

it.each(["legacy", "v1"] as const)(
  "2025-11-25 cancellation: a prompt that the %s client has answered is never cancelled afterwards",
  async (kind) => {
    const service = await startFakeService();
    onTestFinished(service.close);
    const { url } = await startV1Server({
      service,
      addTools: (server, gate) => {
        const spec = { server, tool: "do_it", tier: 3, inputSchema: {} } as const;
        gate.guard({ ...spec, presentation: () => ({ title: "Do it" }) }, () => ({
          content: [{ type: "text", text: "done" }],
        }));
      },
    });
    const client = await clientKinds[kind]({
      url,
      token: "t",
      elicitation: BOTH_MODES,
      onPrompt: async () => {
        return "accept" as const;
      },
    });
    onTestFinished(client.close);
    const minted = service.nextMint();
    const result = client.call("do_it", {});
    const id = await minted;
    await service.nextParked(id);
    // A further request is answered after the answer to the prompt has reached the server.
    while (client.prompts.length === 0) await new Promise((resolve) => setImmediate(resolve));
    await client.call("none", {}).catch(() => undefined);
    await service.decide(id, "accept");
    expect([textOf(await result), endingOf(await result)]).toEqual(["done", undefined]);
    expect(client.wire.received.join("")).not.toContain("notifications/cancelled");
  },
);

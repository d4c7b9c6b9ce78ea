import type { GateEvent } from "@countersign/mcp";
import { expect, it } from "vitest";
import { sendRound } from "./raw-round";
import { setSmallStage } from "./small-server";

it("the author learns of what looks like a secret, and where, and never what it is; the service decides", async () => {
  const events: GateEvent[] = [];
  const { service, call } = await setSmallStage(() => ({ content: [] }), {
    gate: { onEvent: (event) => events.push(event) },
  });
  const key = `AKIA${"QYLPMN5HFIQR7XYA"}`;
  service.plan("mint", {
    kind: "refuse",
    problem: { status: 422, code: "secret_in_request", errors: [{ pointer: "/action/arguments/note", message: "-" }] },
  });
  const { result } = await sendRound({ ...call, args: { list: [], note: `use ${key}` } });
  expect(events).toContainEqual({
    type: "secret_seen",
    tool: "do_it",
    kind: "api_key",
    pointer: "/action/arguments/note",
  });
  expect(result?._meta?.["countersign/ending"]).toBe("secret_in_request");
  expect(result?.content?.[0]?.text).toContain("Where: /action/arguments/note");
  expect(JSON.stringify([events, result])).not.toContain(key);
});

import { afterAll, beforeAll, expect, it, vi } from "vitest";
import type { Person } from "@/examples/support/setting";
import { terminalPerson } from "@/examples/support/terminal-person";
import { check } from "@/examples/url-flow/check";
import { type ExampleStage, startExampleStage } from "./stage";

let stage: ExampleStage;

beforeAll(async () => {
  stage = await startExampleStage();
});
afterAll(() => stage?.stop());

it("from the terminal a check says what to open and press, with the confirmation code, and goes on after the decision", async () => {
  const said = vi.spyOn(console, "log").mockImplementation(() => {});
  const { setting } = stage;
  const you = terminalPerson(setting);
  const person: Person = async (page, choice, note) => {
    await Promise.all([you(page, choice, note), setting.person(page, choice, note)]);
  };
  await check({ ...setting, person });
  const lines = said.mock.calls.join("\n");
  for (const { approvalId } of stage.decisions) expect(lines).toContain(`${setting.url}/a/${approvalId}`);
  expect(lines.match(/confirmation code is \d\d/g)).toHaveLength(4);
  expect(lines.match(/Press “(Approve|Decline)”/g)).toHaveLength(4);
});

it("a check from the terminal ends when the person chose otherwise than it needs", async () => {
  vi.spyOn(console, "log").mockImplementation(() => {});
  const { setting } = stage;
  const you = terminalPerson(setting);
  const person: Person = async (page, choice) => {
    await Promise.all([you(page, choice), setting.person(page, "cancel")]);
  };
  await expect(check({ ...setting, person })).rejects.toThrow("This check needed “accept”; it ended as cancelled.");
});

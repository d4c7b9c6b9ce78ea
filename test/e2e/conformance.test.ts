import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFixtureServer } from "@/test/conformance/fixture-server";
import { type Foreign, installForeign } from "@/test/support/foreign";

let fixture: Awaited<ReturnType<typeof startFixtureServer>>;
let foreign: Foreign;

beforeAll(async () => {
  foreign = installForeign();
  fixture = await startFixtureServer();
}, 240_000);
afterAll(() => fixture?.close());

// Names as the suite has them; where one is renamed, "unknown scenario" fails the test.
const modern = [
  "server-stateless",
  "dns-rebinding-protection",
  "input-required-result-basic-elicitation",
  "input-required-result-basic-sampling",
  "input-required-result-basic-list-roots",
  "input-required-result-request-state",
  "input-required-result-multiple-input-requests",
  "input-required-result-multi-round",
  "input-required-result-missing-input-response",
  "input-required-result-non-tool-request",
  "input-required-result-result-type",
  "input-required-result-unsupported-methods",
  "input-required-result-tampered-state",
  "input-required-result-capability-check",
  "input-required-result-ignore-extra-params",
  "input-required-result-validate-input",
];

describe("the official conformance suite, against a server with the kit in it", () => {
  it.each(modern)("%s", async (scenario) => {
    expect(await failuresOf(["--scenario", scenario])).toEqual([]);
  });

  it("tools-call-elicitation, of revision 2025-11-25", async () => {
    expect(await failuresOf(["--scenario", "tools-call-elicitation", "--spec-version", "2025-11-25"])).toEqual([]);
  });
});

/** The checks that failed; a run that has checked nothing is a failure of its own. */
async function failuresOf(args: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await foreign.conformance(["server", "--url", fixture.url, ...args]);
  const passed = Number(/Passed: (\d+)\/\d+, 0 failed/.exec(stdout)?.[1] ?? 0);
  if (code === 0 && passed > 0) return [];
  const failed = stdout.split("\n").filter((line) => line.includes("FAILURE"));
  return failed.length > 0 ? failed : [`exit ${code}: ${stdout.slice(-500)} ${stderr.slice(-500)}`];
}

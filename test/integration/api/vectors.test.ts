import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { digestCases } from "@/scripts/vectors/digest-cases";
import { refusalCases } from "@/scripts/vectors/refusal-cases";
import { addPerson, addTestClient, mintBody, type Person, type TestClient } from "@/test/support/actors";
import { createTestService, type TestService } from "@/test/support/database";

let stage: TestService;
let client: TestClient;
let person: Person;

beforeAll(async () => {
  stage = await createTestService();
  person = await addPerson(stage.service);
  client = await addTestClient(stage.service, { maxPendingPerSubject: 200, maxMintsPerSubjectPerHour: 1_000 });
});
afterAll(() => stage.stop());

/** The body with these arguments as text, untouched by any parser on the way. */
function mintText(tool: string, argumentsText: string): string {
  const marked = JSON.stringify(mintBody(person, { action: { tool, arguments: "ARGUMENTS" } }));
  return marked.replace('"ARGUMENTS"', () => argumentsText);
}

const mint = (tool: string, argumentsText: string) => client.api("POST", "/approvals", mintText(tool, argumentsText));

describe("the vectors in docs/vectors and the service", () => {
  it.each(refusalCases)("I3: refuses $code, $name, naming the place", async ({ argumentsText, code, pointer }) => {
    const response = await mint("t", argumentsText);
    const problem = (await response.json()) as { code: string; errors: { pointer: string }[] };
    expect([response.status, problem.code, problem.errors[0]?.pointer]).toEqual([
      422,
      code,
      `/action/arguments${pointer}`,
    ]);
  });

  it.each(digestCases)("I3: digests as written by hand: $name", async (digestCase) => {
    const response = await mint(digestCase.tool, digestCase.argumentsText);
    const minted = (await response.json()) as { actionDigest: string; salt: string };
    const text = digestCase.canonicalText.replace(`"salt":"${digestCase.salt}"`, `"salt":"${minted.salt}"`);
    expect(minted.actionDigest).toBe(`sha256:${createHash("sha256").update(text, "utf8").digest("hex")}`);
  });
});

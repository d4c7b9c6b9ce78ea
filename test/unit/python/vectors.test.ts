import { canonicalJson } from "@countersign/mcp/digest";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { challengeCases } from "@/scripts/vectors/challenge-cases";
import { digestCases } from "@/scripts/vectors/digest-cases";
import { refusalCases } from "@/scripts/vectors/refusal-cases";
import { openPythonClient, runPython } from "@/test/support/python-client";
import { apiKey } from "./hostile-service";

describe("the Python client's digests", () => {
  it("I3: agree with every vector", async () => {
    expect(await runPython("examples/python/check_vectors.py")).toEqual({
      code: 0,
      stdout: [
        `action-digests.json: ${digestCases.length} checked`,
        `refusals.json: ${refusalCases.length} checked`,
        `decision-challenges.json: ${challengeCases.length} checked`,
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  it("I3: write any number, text and order of names as the kit does", async () => {
    const number = fc
      .oneof(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.double({ min: -1e-4, max: 1e-4, noNaN: true }),
        fc.double({ min: -(2 ** 53), max: 2 ** 53, noNaN: true }),
        fc.maxSafeInteger(),
      )
      .filter((n) => !Object.is(n, -0) && (!Number.isInteger(n) || Number.isSafeInteger(n)));
    const text = fc.string({ unit: "binary" }).filter((one) => !one.includes("\0") && one !== "__proto__");
    const values = fc.sample(fc.dictionary(text, fc.oneof(number, text, fc.array(number)), { maxKeys: 6 }), 2_000);
    const python = await openPythonClient({ url: "https://countersign.example.com", apiKey });
    const answer = await python.ask({ do: "canonical", texts: values.map((value) => JSON.stringify(value)) });
    await python.close();
    expect(answer.returned).toEqual(values.map((value) => canonicalJson({ ...value })));
  });
});

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { copyExactly, InexactValueError } from "@countersign/mcp/exact-json";
import { describe, expect, it } from "vitest";
import { buildVectors } from "@/scripts/vectors/build";
import { challengeCases } from "@/scripts/vectors/challenge-cases";
import { digestCases } from "@/scripts/vectors/digest-cases";
import { refusalCases } from "@/scripts/vectors/refusal-cases";

const folder = path.resolve(import.meta.dirname, "../../../docs/vectors");
const read = (name: string): string => readFileSync(path.join(folder, name), "utf8");
const readVectors = <T>(name: string): T[] => JSON.parse(read(name)) as T[];
const sha256 = (text: string) => createHash("sha256").update(text, "utf8");

describe("the vectors in docs/vectors", () => {
  it("are what the code computes", () => {
    const built = buildVectors();
    const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
    expect(files.sort()).toEqual(Object.keys(built).sort());
    for (const [name, text] of Object.entries(built)) expect(read(name)).toBe(text);
  });

  it("I3: have the digests of canonical texts that were written by hand", () => {
    const derived = digestCases.map((digestCase) => ({
      ...digestCase,
      digest: `sha256:${sha256(digestCase.canonicalText).digest("hex")}`,
    }));
    expect(readVectors("action-digests.json")).toEqual(derived);
    expect(derived.length).toBeGreaterThanOrEqual(25);
  });

  it("I3: have the challenges of canonical texts that were written by hand", () => {
    const derived = challengeCases.map((challengeCase) => ({
      ...challengeCase,
      challenge: sha256(challengeCase.canonicalText).digest("base64url"),
    }));
    expect(readVectors("decision-challenges.json")).toEqual(derived);
  });

  it("I3: say what is refused, and where, as written by hand", () => {
    expect(readVectors("refusals.json")).toEqual(refusalCases);
    expect(new Set(refusalCases.map(({ code }) => code))).toEqual(
      new Set(["number_not_exact", "duplicate_key", "forbidden_key", "nul_character", "lone_surrogate", "too_deep"]),
    );
  });

  it("name each case once", () => {
    for (const cases of [digestCases, refusalCases, challengeCases]) {
      expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
    }
  });

  it.each(refusalCases.filter(({ seenInValue }) => seenInValue))(
    "I3: the kit refuses the value too: $code, $name",
    ({ argumentsText }) => {
      expect(() => copyExactly(JSON.parse(argumentsText))).toThrow(InexactValueError);
    },
  );
});

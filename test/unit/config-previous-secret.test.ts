import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");
const [one, two] = [digestOf("one"), digestOf("two")];
const faultsOf = (env: Record<string, string>) => {
  try {
    parseConfig(env);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};

describe("COUNTERSIGN_SECRET_PREVIOUS", () => {
  it("is taken beside COUNTERSIGN_SECRET, in hex or base64, and is none where it is left out or empty", () => {
    const config = parseConfig({ COUNTERSIGN_SECRET: one, COUNTERSIGN_SECRET_PREVIOUS: two });
    expect(Buffer.from(config.previousSecret ?? []).toString("hex")).toBe(two);
    expect(parseConfig({ COUNTERSIGN_SECRET: one, COUNTERSIGN_SECRET_PREVIOUS: " " }).previousSecret).toBeUndefined();
    expect(parseConfig({}).previousSecret).toBeUndefined();
  });

  it("must be as good a secret, another one, and not alone", () => {
    expect(faultsOf({ COUNTERSIGN_SECRET: one, COUNTERSIGN_SECRET_PREVIOUS: "short" })).toMatch(/PREVIOUS: must be 32/);
    const same = Buffer.from(one, "hex").toString("base64");
    expect(faultsOf({ COUNTERSIGN_SECRET: one, COUNTERSIGN_SECRET_PREVIOUS: same })).toMatch(/PREVIOUS: must differ/);
    expect(faultsOf({ COUNTERSIGN_SECRET_PREVIOUS: two })).toMatch(/PREVIOUS: needs COUNTERSIGN_SECRET/);
  });
});

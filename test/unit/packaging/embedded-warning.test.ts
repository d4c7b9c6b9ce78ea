import { describe, expect, it } from "vitest";
import { parseConfig } from "@/lib/config";
import { warnOfEmbedded } from "@/lib/service/embedded-warning";

function warningsOf(env: Record<string, string>, isProduction: boolean): string[] {
  const said: string[] = [];
  const log = { warn: (_details: object, message: string) => said.push(message) };
  warnOfEmbedded({ config: parseConfig(env), log: log as never }, { isProduction });
  return said;
}

const secret = "8f1d0c5e9ab74326b1d4c7e2f0a3958610fedcba9876543210a1b2c3d4e5f607";
const url = "https://approve.example.com";

describe("the embedded database in production", () => {
  it("is said aloud, once, with the setting that ends it", () => {
    for (const said of [
      warningsOf({}, true),
      warningsOf({ COUNTERSIGN_URL: url }, false),
      warningsOf({ COUNTERSIGN_URL: url }, true),
    ])
      expect(said).toEqual([expect.stringContaining("DATABASE_URL")]);
  });

  it("is nothing to speak of while trying it out on loopback, nor where there is a database", () => {
    expect(warningsOf({}, false)).toEqual([]);
    expect(warningsOf({ COUNTERSIGN_URL: "http://127.0.0.1:3000" }, false)).toEqual([]);
    const own = { COUNTERSIGN_URL: url, COUNTERSIGN_SECRET: secret, DATABASE_URL: "postgresql://h/d" };
    expect(warningsOf(own, true)).toEqual([]);
  });
});

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "@/lib/config";

const folder = mkdtempSync(path.join(tmpdir(), "countersign-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, content: string) => {
  const at = path.join(folder, name);
  writeFileSync(at, content);
  return at;
};
const faultsOf = (env: Record<string, string>): readonly string[] => {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.faults : [String(error)];
  }
};

const secret = "8f1d0c5e9ab74326b1d4c7e2f0a3958610fedcba9876543210a1b2c3d4e5f607";
const COUNTERSIGN_URL = "https://approve.example.com";

describe("secrets from files", () => {
  it("are read for what opens something, without the newline at their end", () => {
    const config = parseConfig({
      COUNTERSIGN_URL,
      COUNTERSIGN_SECRET_FILE: file("secret", `${secret}\n`),
      DATABASE_URL_FILE: file("database", "postgresql://u:p@h/d\r\n"),
      METRICS_TOKEN_FILE: file("token", "0123456789abcdef0123456789abcdef\n"),
    });
    expect(Buffer.from(config.secret ?? []).toString("hex")).toBe(secret);
    expect([config.databaseUrl, config.metricsToken]).toEqual([
      "postgresql://u:p@h/d",
      "0123456789abcdef0123456789abcdef",
    ]);
  });

  it("are what the other rules look at: an address from a file needs a secret and a URL, too", () => {
    expect(faultsOf({ DATABASE_URL_FILE: file("alone", "postgresql://u:p@h/d") })).toEqual([
      "COUNTERSIGN_SECRET: is required when DATABASE_URL is set",
      "COUNTERSIGN_URL: is required when DATABASE_URL is set",
    ]);
  });

  it("that are missing, empty, too large, or given twice are faults of the variable", () => {
    expect(
      faultsOf({
        COUNTERSIGN_SECRET_FILE: path.join(folder, "missing"),
        DATABASE_URL_FILE: file("empty", " \n"),
        DATABASE_OWNER_URL_FILE: folder,
        OIDC_PROVIDERS_FILE: file("large", "x".repeat(65_537)),
        METRICS_TOKEN_FILE: file("second", "0123456789abcdef0123456789abcdef"),
        METRICS_TOKEN: "0123456789abcdef0123456789abcdef",
      }),
    ).toEqual([
      "COUNTERSIGN_SECRET_FILE: names a file that cannot be read (ENOENT)",
      "DATABASE_URL_FILE: names an empty file",
      "DATABASE_OWNER_URL_FILE: names a file that cannot be read (EISDIR)",
      "OIDC_PROVIDERS_FILE: names a file of more than 64 KiB",
      "METRICS_TOKEN_FILE: must not be set beside METRICS_TOKEN",
    ]);
  });

  it("are told in no fault, however wrong they are", () => {
    const wrong = "a-secret-that-is-no-secret";
    const faults = faultsOf({
      COUNTERSIGN_URL,
      COUNTERSIGN_SECRET_FILE: file("weak", wrong),
      DATABASE_URL_FILE: file("elsewhere", `mysql://u:${wrong}@h/d`),
      METRICS_TOKEN_FILE: file("blank", `${wrong} ${wrong}`),
    });
    expect(faults.length).toBe(3);
    expect(faults.join("\n")).not.toContain(wrong);
  });
});

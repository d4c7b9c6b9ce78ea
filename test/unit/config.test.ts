import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "@/lib/config";

const secret = "0123456789abcdef".repeat(4);

function faults(env: Record<string, string>): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    return error instanceof ConfigError ? error.faults : [String(error)];
  }
}

describe("the configuration", () => {
  it("needs nothing: the embedded database and loopback are the default", () => {
    expect(parseConfig({ PORT: "", DATABASE_URL: " " })).toMatchObject({
      host: "127.0.0.1",
      port: 3000,
      url: "http://localhost:3000",
      databaseUrl: undefined,
      secret: undefined,
      retainArgumentsSeconds: 86_400,
    });
  });

  it("reports all faults together, each with its variable", () => {
    expect(
      faults({ PORT: "70000", LOG_LEVEL: "loud", DATABASE_URL: "mysql://x", TRUSTED_PROXIES: "10.0.0.0/33" }).map(
        (fault) => fault.split(":")[0],
      ),
    ).toEqual(["PORT", "DATABASE_URL", "TRUSTED_PROXIES", "LOG_LEVEL", "COUNTERSIGN_SECRET", "COUNTERSIGN_URL"]);
  });

  it.each([
    ["http://approve.example.com"],
    ["https://u:p@approve.example.com"],
    ["https://approve.example.com/path"],
    ["https://xn--pple-43d.com"],
    ["ftp://x"],
    ["nonsense"],
  ])("refuses %s as public URL", (url) => {
    expect(faults({ COUNTERSIGN_URL: url })).toHaveLength(1);
  });

  it("takes a secret of 32 random bytes in hex or base64, and nothing weaker", () => {
    const good = Buffer.from(Array.from({ length: 32 }, (_, i) => i * 7)).toString("base64");
    expect(faults({ COUNTERSIGN_SECRET: good })).toEqual([]);
    for (const weak of ["short", "0".repeat(64), "password".repeat(10), secret.slice(0, 60)])
      expect(faults({ COUNTERSIGN_SECRET: weak })).toHaveLength(1);
  });
});

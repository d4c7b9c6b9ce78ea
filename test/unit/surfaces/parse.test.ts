import { describe, expect, it } from "vitest";
import { ConfigError, parseConfig } from "@/lib/config";
import { parseSurfaces, wholeListener } from "@/lib/surfaces/parse";

const faultOf = (text: string) => {
  const parsed = parseSurfaces(text);
  return "fault" in parsed ? parsed.fault : "none";
};

describe("SURFACES", () => {
  it("puts surfaces on listeners, several on one, one on several, IPv6 in brackets", () => {
    expect(parseSurfaces(" pages = 0.0.0.0:3000 ; api,admin, audit =[::1]:3001; metrics,api=localhost:9464;")).toEqual({
      listeners: [
        { host: "0.0.0.0", port: 3000, surfaces: new Set(["pages"]) },
        { host: "::1", port: 3001, surfaces: new Set(["api", "admin", "audit"]) },
        { host: "localhost", port: 9464, surfaces: new Set(["metrics", "api"]) },
      ],
    });
  });

  it.each([
    [";", /no listener/],
    ["pages", /must look like/],
    ["pages=", /must look like/],
    ["=0.0.0.0:1", /must look like/],
    ["pages=a:1=b:2", /must look like/],
    ["page=0.0.0.0:3000", /"page" is none of pages, api, admin, audit, metrics/],
    ["pages,=0.0.0.0:3000", /"" is none of/],
    ["Pages=0.0.0.0:3000", /"Pages" is none of/],
    ["pages=0.0.0.0", /address and a port/],
    ["pages=3000", /address and a port/],
    ["pages=0.0.0.0:0", /address and a port/],
    ["pages=0.0.0.0:65536", /address and a port/],
    ["pages=::1:3000", /address and a port/],
    ["pages=[::g]:3000", /address and a port/],
    ["pages=http://h:3000", /address and a port/],
    ["pages=h:1; api=h:1", /twice/],
  ])("refuses %s", (text, fault) => {
    expect(faultOf(text)).toMatch(fault);
  });

  it("unset, puts everything on HOST and PORT, and metrics only beside a token", () => {
    const names = (hasToken: boolean) => [...wholeListener("127.0.0.1", 3000, hasToken).surfaces];
    expect(names(false)).toEqual(["pages", "api", "admin", "audit"]);
    expect(names(true)).toEqual(["pages", "api", "admin", "audit", "metrics"]);
    expect(parseConfig({ HOST: "::1", PORT: "8080" }).listeners).toEqual([
      { host: "::1", port: 8080, surfaces: new Set(["pages", "api", "admin", "audit"]) },
    ]);
  });

  it("names no public URL, so COUNTERSIGN_URL must; metrics beside pages need a token", () => {
    const faults = (env: Record<string, string>) => {
      try {
        parseConfig(env);
        return [];
      } catch (error) {
        return error instanceof ConfigError ? error.faults : [error];
      }
    };
    expect(faults({ SURFACES: "pages=0.0.0.0:3000" })).toEqual(["COUNTERSIGN_URL: is required when SURFACES is set"]);
    const mixed = { SURFACES: "pages,metrics=0.0.0.0:3000", COUNTERSIGN_URL: "https://approve.example.com" };
    expect(faults(mixed)).toEqual(["METRICS_TOKEN: is required when SURFACES has metrics beside pages"]);
    expect(faults({ ...mixed, METRICS_TOKEN: "0123456789abcdef0123456789abcdef" })).toEqual([]);
    expect(faults({ SURFACES: "pages=x", COUNTERSIGN_URL: "https://approve.example.com" })).toEqual([
      expect.stringMatching(/^SURFACES: /),
    ]);
  });
});

describe("the grace after SIGTERM", () => {
  it("is five seconds, none on loopback, and what DRAIN_GRACE_SECONDS says", () => {
    const grace = (env: Record<string, string>) => parseConfig(env).drainGraceSeconds;
    expect(grace({})).toBe(0);
    expect(grace({ COUNTERSIGN_URL: "https://approve.example.com" })).toBe(5);
    expect(grace({ COUNTERSIGN_URL: "https://approve.example.com", DRAIN_GRACE_SECONDS: "0" })).toBe(0);
    expect(grace({ DRAIN_GRACE_SECONDS: "12" })).toBe(12);
  });
});

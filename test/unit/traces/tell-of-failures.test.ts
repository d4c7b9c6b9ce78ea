import { describe, expect, it } from "vitest";
import { tellOfFailures } from "@/lib/traces/tell-of-failures";

describe("a collector that takes no spans", () => {
  it("is told of in the log, once a minute, and goes on being tried", () => {
    let at = 0;
    const told: unknown[] = [];
    const results: unknown[] = [];
    let error: Error | undefined = new Error("connect ECONNREFUSED");
    const exporter = tellOfFailures(
      {
        export: (_spans, done) => done({ code: error ? 1 : 0, ...(error ? { error } : {}) }),
        shutdown: async () => {},
      },
      { warn: (...line: unknown[]) => void told.push(line[0]) },
      () => at,
    );
    const send = () => exporter.export([], (result) => results.push(result.code));
    for (at of [0, 1_000, 59_999]) send();
    expect(told).toEqual([{ reason: "connect ECONNREFUSED", spans: 0 }]);
    at = 60_000;
    send();
    expect(told).toHaveLength(2);
    error = undefined;
    at = 200_000;
    send();
    expect(told).toHaveLength(2);
    expect(results).toEqual([1, 1, 1, 1, 0]);
  });
});

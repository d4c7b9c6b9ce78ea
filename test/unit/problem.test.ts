import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { Problem, problems, toProblemResponse } from "@/lib/problem";

describe("problems", () => {
  it("are documented one by one, with the status they are sent with", () => {
    const documented = [
      ...readFileSync("docs/api.md", "utf8").matchAll(/^\| `([a-z_]+)`\s*\| (\d{3})\s*\| .+ \| .+ \|$/gm),
    ].map((row) => [row[1], Number(row[2])]);
    expect(Object.fromEntries(documented)).toEqual(
      Object.fromEntries(Object.entries(problems).map(([code, { status }]) => [code, status])),
    );
  });

  it("say nothing of an unexpected error but that there was one", async () => {
    const response = toProblemResponse(new Error("password=hunter2"), "req_1");
    expect([response.status, response.headers.get("content-type"), await response.json()]).toEqual([
      500,
      "application/problem+json",
      {
        type: "urn:countersign:problem:internal",
        title: "Something failed on our side",
        status: 500,
        code: "internal",
        instance: "urn:countersign:request:req_1",
      },
    ]);
  });

  it("tell a database that is away from a defect, so that the caller may retry", () => {
    const away = new Error("query failed", { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) });
    const response = toProblemResponse(away, "req_1");
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
    expect(toProblemResponse(new Problem("mint_rate", { retryAfterSeconds: 17 }), "r").headers.get("retry-after")).toBe(
      "17",
    );
  });

  it.each([
    [
      "refuses a connection, for whatever reason",
      Object.assign(new Error("not accepting"), { code: "55000", severity: "FATAL" }),
    ],
    [
      "starts up, as the database client words it",
      new Error(
        "\nInvalid `prisma.apiKey.findUnique()` invocation:\n\n\nDatabase error. Code: `57P03`. Message: `starting up`",
      ),
    ],
  ])("tell a database that %s from a defect", (_what, error) => {
    expect(toProblemResponse(error, "req_1").status).toBe(503);
  });

  it.each([
    ["refuses a statement", Object.assign(new Error("check"), { code: "23514", severity: "ERROR" })],
    ["cannot do what is asked, as its client words it", new Error("\nDatabase error. Code: `42P01`. Message: `57P03`")],
  ])("call it a defect of ours where the database %s", (_what, error) => {
    expect(toProblemResponse(error, "req_1").status).toBe(500);
  });
});

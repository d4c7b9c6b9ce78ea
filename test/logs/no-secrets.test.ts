import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { canary, password } from "@/test/support/actors";

const logsDir = "test-output/logs";

/** What must be in no log, each with an example of itself, so that a pattern that matches nothing is found out. */
const secrets: [name: string, pattern: RegExp, example: string][] = [
  ["an API key", /csk_[0-9a-z]{12}_[A-Za-z0-9_-]{43}/, `csk_0123456789ab_${"A".repeat(43)}`],
  ["a signed or encrypted token", /eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*\./, "eyJhbGciOiJFZERTQSJ9.e30.AA"],
  ["a cookie", /countersign\.(session|flash)=|next-auth\.csrf-token=/, "countersign.session=abc"],
  ["an argument value or a note", new RegExp(canary), canary],
  ["a password", new RegExp(`${password}|\\$argon2`), password],
  ["a match code", /code is \d\d|matchCode"?:"?\d|確認番号は \d\d/, "Your confirmation code is 47"],
  ["a database password", /postgres(ql)?:\/\/[^:/\s]+:[^@\s]+@/, "postgresql://countersign:secret@127.0.0.1"],
  ["a consumer token", /consumerToken"?:"?[A-Za-z0-9_-]{43}/, `consumerToken":"${"A".repeat(43)}`],
];

const logs = () => readdirSync(logsDir).map((name) => ({ name, text: readFileSync(path.join(logsDir, name), "utf8") }));

describe("what the whole run has logged, at every level", () => {
  it("is there: the suites before wrote it", () => {
    const lines = logs().reduce((sum, { text }) => sum + text.split("\n").length, 0);
    expect(logs().length).toBeGreaterThan(5);
    expect(lines).toBeGreaterThan(50);
  });

  it.each(secrets)("holds no %s", (_name, pattern, example) => {
    expect(example).toMatch(pattern);
    expect(
      logs()
        .filter(({ text }) => pattern.test(text))
        .map(({ name }) => name),
    ).toEqual([]);
  });
});

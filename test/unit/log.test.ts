import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const program = `
  import { createLogger } from "./lib/log.ts";
  const secrets = { apiKey: "s1", password: "s2", consumerToken: "s3", matchCode: "s4", arguments: { a: "s5" }, note: "s6", record: "s7", receipt: "s8" };
  createLogger({ logLevel: "trace" }).info({ ...secrets, inside: secrets, deeper: { inside: secrets }, headers: { authorization: "s9", cookie: "s10" }, approvalId: "kept" }, "hello");
`;

describe("the logger of the process", () => {
  it("writes to standard error and censors what must not be there, though somebody logs a whole object by mistake", () => {
    const { stdout, stderr } = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program], {
      encoding: "utf8",
    });
    expect(stdout).toBe("");
    expect(JSON.parse(stderr)).toMatchObject({ msg: "hello", approvalId: "kept" });
    expect(stderr.match(/"s\d+"/g)).toBeNull();
    expect(stderr.match(/\[redacted\]/g)).toHaveLength(26);
  });
});

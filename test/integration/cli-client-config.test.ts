import { describe, expect, it, vi } from "vitest";
import { commandLine } from "../support/command-line";

// Each call is a process of its own, slow to start on a busy machine.
vi.setConfig({ testTimeout: 180_000 });

// Nothing of a deployment is needed, and nothing of it answers.
const cli = commandLine({ DATABASE_URL: "postgresql://127.0.0.1:1/none" });
const list = JSON.stringify({
  tools: [
    { name: "read_it", tier: 0 },
    { name: "delete_it", tier: 3 },
  ],
});

describe("client-config", () => {
  it("prints every client's settings for people, one client's for programs, and needs no deployment", async () => {
    const [words, json] = await Promise.all([
      cli.run(["client-config", "--tools", "-", "--server", "crm", "--for", "all"], list),
      cli.run(
        ["client-config", "--tools", "-", "--server", "crm", "--for", "cursor", "--tier3", "deny", "--json"],
        list,
      ),
    ]);
    expect([words.code, json.code]).toEqual([0, 0]);
    for (const name of ["Claude Code", "Claude connectors", "VS Code", "Cursor", "Gemini CLI", "OpenAI Responses API"])
      expect(words.stdout).toContain(`== ${name} ==`);
    expect(words.stdout.match(/^Admin lock: /gm)).toHaveLength(6);
    expect(words.stdout.match(/^Not enforced: .* The server still guards tier 3 itself\.$/gm)).toHaveLength(6);
    expect(JSON.parse(json.stdout)).toMatchObject({
      server: "crm",
      tools: { allow: ["read_it"], guarded: ["delete_it"] },
      clients: [{ name: "cursor", client: "Cursor", writtenFor: "crm" }],
    });
  });

  it("refuses what is no tool list or no server's name, and says why", async () => {
    const [list1, server, client] = await Promise.all([
      cli.fail(["client-config", "--tools", "-", "--server", "crm"], "{}"),
      cli.fail(["client-config", "--tools", "-", "--server", " "], list),
      cli.fail(["client-config", "--tools", "-", "--server", "crm", "--for", "other"], list),
    ]);
    expect([list1.error.code, server.error.code, client.error.code]).toEqual(["bad_tools", "bad_server", "usage"]);
    expect(list1.error.message).toContain("it has no array `tools`");
  });
});

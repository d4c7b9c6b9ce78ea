import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openProjects } from "@/examples/crm-server/projects";
import { readTokens } from "@/examples/crm-server/tokens";
import { ALICE, apollo, BOB, setStage, textOf } from "./crm";
import { sendRound } from "./raw-round";

describe("the example server", () => {
  it.each(["modern", "legacy", "v1"] as const)(
    "lists and renames without asking anybody, for the %s client",
    async (kind) => {
      const stage = await setStage();
      const client = await stage.connect(kind, { elicitation: undefined });
      await client.call("update_project", { project_id: "p_41", name: " Zeus " });
      const listed = JSON.parse(textOf(await client.call("list_projects", {})));
      expect(listed.projects[0]).toEqual({ id: "p_41", name: "Zeus", items: 12, version: 2 });
      expect(listed.executions).toMatchObject([{ tool: "update_project", projectId: "p_41", by: "alice" }]);
      expect(stage.service.seen).toEqual([]);
    },
  );

  it("shows that a project was deleted, by whom and under which approval", async () => {
    const stage = await setStage();
    const client = await stage.connect("modern", {
      onPrompt: async ({ url }) => {
        await stage.service.decide(url.split("/a/")[1] ?? "", "accept");
        return "accept" as const;
      },
    });
    await client.call("delete_project", apollo);
    const [approvalId] = stage.service.approvals.keys();
    const listed = JSON.parse(textOf(await client.call("list_projects", {})));
    expect(listed.projects[1]).toMatchObject({ id: "p_42", deletedAt: expect.any(String) });
    expect(listed.executions).toMatchObject([{ tool: "delete_project", projectId: "p_42", by: "alice", approvalId }]);
  });

  it.each([
    ["no token", undefined],
    ["an unknown token", "token-of-mallory-0123456"],
    ["a token that is the start of a known one", ALICE.slice(0, -1)],
  ])("S31: answers 401 to %s", async (_, token) => {
    const stage = await setStage();
    const { status } = await sendRound({ url: stage.crm.url, ...(token === undefined ? {} : { token }) });
    expect(status).toBe(401);
  });

  it.each([
    ["a foreign origin", { origin: "https://evil.example.com" }, 403],
    ["an opaque origin", { origin: "null" }, 403],
    ["its own machine's origin", { origin: "http://localhost:8080" }, 200],
  ])("S37: answers %s with the right status", async (_, headers, expected) => {
    const stage = await setStage();
    const { status } = await sendRound({ url: stage.crm.url, token: ALICE, tool: "list_projects", headers });
    expect(status).toBe(expected);
  });

  it("S30: a session in another caller's hands is an unknown one", async () => {
    const stage = await setStage();
    const client = await stage.connect("legacy");
    await client.call("list_projects", {});
    const session = client.sessionId() ?? "";
    expect(session).not.toBe("");
    const use = async (token: string, id: string) => {
      const response = await fetch(stage.crm.url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          authorization: `Bearer ${token}`,
          "mcp-session-id": id,
          "mcp-protocol-version": "2025-11-25",
        },
        body: JSON.stringify({ jsonrpc: "2.0", id: 9, method: "tools/list" }),
      });
      return { status: response.status, text: await response.text() };
    };
    expect((await use(ALICE, session)).status).toBe(200);
    const stolen = await use(BOB, session);
    expect(stolen.status).toBe(404);
    expect(stolen).toEqual(await use(BOB, "unknown"));
  });

  it("keeps its data in a file, if it is given one", async () => {
    const folder = await mkdtemp(join(tmpdir(), "crm-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "crm.json");
    openProjects(file).rename("p_43", "Heracles", "alice");
    expect(openProjects(file).find("p_43")?.name).toBe("Heracles");
    expect(JSON.parse(await readFile(file, "utf8")).executions).toHaveLength(1);
  });

  it("refuses tokens that are short or without an identity", () => {
    expect(() => readTokens('{"short":{"iss":"i","sub":"s"}}')).toThrow();
    expect(() => readTokens(`{"${ALICE}":{"iss":"i"}}`)).toThrow();
    expect(readTokens(`{"${ALICE}":{"iss":"i","sub":"s"}}`)).toEqual({ [ALICE]: { iss: "i", sub: "s" } });
  });
});

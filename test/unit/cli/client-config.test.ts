import { describe, expect, it } from "vitest";
import { claudeCode } from "@/cli/client-config/claude-code";
import { claudeConnectors } from "@/cli/client-config/claude-connectors";
import type { SettingsFor } from "@/cli/client-config/client";
import { cursor } from "@/cli/client-config/cursor";
import { geminiCli } from "@/cli/client-config/gemini-cli";
import { openai } from "@/cli/client-config/openai";
import { sortTools } from "@/cli/client-config/tools";
import { vscode } from "@/cli/client-config/vscode";

const list = [
  { name: "list_it", tier: 0 },
  { name: "fetch.url", _meta: { "countersign/tier": 1 } },
  { name: "rename", tier: 2 },
  { name: "delete_it", tier: 3 },
  { name: "odd", annotations: { readOnlyHint: true } },
];
const tools = sortTools(JSON.stringify(list));
const all: [string, SettingsFor][] = [
  ["Claude Code", claudeCode],
  ["Claude connectors", claudeConnectors],
  ["VS Code", vscode],
  ["Cursor", cursor],
  ["Gemini CLI", geminiCli],
  ["OpenAI Responses API", openai],
];
const first = (settings: ReturnType<SettingsFor>) => settings.files[0]?.content ?? "";
const parsed = (settings: ReturnType<SettingsFor>, at = 0) => JSON.parse(settings.files[at]?.content ?? "") as unknown;

describe("reading a tool list", () => {
  it("takes the answer to tools/list, its result and the bare array; a tool without a tier is told apart, whatever it hints", () => {
    const expected = { allow: ["list_it"], ask: ["fetch.url", "rename"], guarded: ["delete_it"], untold: ["odd"] };
    for (const form of [list, { tools: list }, { jsonrpc: "2.0", id: 1, result: { tools: list } }])
      expect(sortTools(JSON.stringify(form))).toEqual(expected);
  });

  it.each([
    ["{", "it is not JSON"],
    ["{}", "it has no array `tools`"],
    ['[{"tier":0}]', "tools[0].name is missing"],
    ['[{"name":"a","tier":0},{"name":"a","tier":3}]', 'tools[1].name "a" is there twice'],
    ['[{"name":"a","tier":4}]', "tools[0].tier is not one of 0, 1, 2, 3"],
    ['[{"name":"a","tier":"0"}]', "tools[0].tier is not one of"],
  ])("refuses %s and names the place", (text, message) => {
    expect(() => sortTools(text)).toThrow(message);
  });
});

describe.each(all)("settings for %s", (name, settingsFor) => {
  it("say who they are for, the admin's lock, the rule of the server's name, and what is not enforced", () => {
    const settings = settingsFor("crm", tools, false);
    expect(settings.client).toBe(name);
    for (const text of [settings.adminLock, settings.serverNameRule, settings.notEnforced, settings.asOf])
      expect(text).not.toBe("");
  });

  it("allow nothing but tier 0: neither tier 3 nor a tool without a tier, asked for or denied", () => {
    for (const deny of [false, true]) {
      const { files, steps } = settingsFor("crm", tools, deny);
      const allowed = [
        ...files.map(({ content }) => allowedIn(content)),
        ...steps.filter((step) => /allow/i.test(step)),
      ].join("\n");
      expect(allowed).toContain("list_it");
      expect(allowed).not.toMatch(/fetch\.url|rename|delete_it|odd/);
    }
  });
});

/** The part of a setting that lets tools run unasked. */
function allowedIn(content: string): string {
  if (content.startsWith("[[rule]]"))
    return content
      .split("\n\n")
      .filter((rule) => rule.includes('decision = "allow"'))
      .join("\n");
  const settings = JSON.parse(content) as Record<string, Record<string, unknown>>;
  const approval = settings["require_approval"] as Record<string, unknown> | undefined;
  return JSON.stringify([settings["permissions"]?.["allow"], settings["mcpAllowlist"], approval?.["never"]]);
}

describe("what each client is told", () => {
  it("Claude Code: rules by the server's name as it writes it; denied where wanted", () => {
    expect(parsed(claudeCode("My CRM (EU)", tools, false))).toEqual({
      permissions: {
        allow: ["mcp__My_CRM__EU___list_it"],
        ask: ["fetch.url", "rename", "delete_it", "odd"].map((tool) => `mcp__My_CRM__EU___${tool}`),
        deny: [],
      },
    });
    expect(parsed(claudeCode("crm", tools, true))).toMatchObject({
      permissions: { ask: ["mcp__crm__fetch.url", "mcp__crm__rename"], deny: ["mcp__crm__delete_it", "mcp__crm__odd"] },
    });
  });

  it("VS Code: none but tier 0 may be approved beforehand, and nothing is by default", () => {
    expect(parsed(vscode("crm", tools, false))).toEqual({
      "chat.tools.global.autoApprove": false,
      "chat.tools.eligibleForAutoApproval": {
        "crm/fetch.url": false,
        "crm/rename": false,
        "crm/delete_it": false,
        "crm/odd": false,
      },
    });
  });

  it("Cursor: the list of what runs unasked, and the command line's rules", () => {
    expect(parsed(cursor("crm", tools, true))).toEqual({ mcpAllowlist: ["crm:list_it"] });
    expect(parsed(cursor("crm", tools, true), 1)).toEqual({
      permissions: { allow: ["Mcp(crm:list_it)"], deny: ["Mcp(crm:delete_it)", "Mcp(crm:odd)"] },
    });
  });

  it("Gemini CLI: rules whose priority grows with the danger, names quoted", () => {
    const rules = first(geminiCli('c"rm', tools, true)).split("\n\n");
    expect(rules).toHaveLength(5);
    expect(rules[0]).toBe('[[rule]]\nmcpName = "c\\"rm"\ntoolName = "list_it"\ndecision = "allow"\npriority = 100');
    expect(rules[4]).toContain('toolName = "odd"\ndecision = "deny"\npriority = 300');
  });

  it("OpenAI: never and always by name; a denied tool is not offered at all", () => {
    expect(parsed(openai("My CRM", tools, false))).toMatchObject({
      server_label: "My_CRM",
      require_approval: {
        never: { tool_names: ["list_it"] },
        always: { tool_names: ["fetch.url", "rename", "delete_it", "odd"] },
      },
    });
    expect(parsed(openai("crm", tools, true))).toMatchObject({ allowed_tools: ["list_it", "fetch.url", "rename"] });
  });

  it("Claude connectors: steps for a person, each tool under one of them", () => {
    const steps = claudeConnectors("crm", tools, true).steps.join("\n");
    expect(steps).toContain("Block: delete_it, odd.");
  });
});

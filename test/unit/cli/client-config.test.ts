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
  { name: "untold", annotations: { readOnlyHint: true } },
  { name: "get *", tier: 0 },
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
const parsed = (settings: ReturnType<SettingsFor>, at = 0) => JSON.parse(settings.files[at]?.content ?? "") as unknown;

describe("reading a tool list", () => {
  it("takes the answer to tools/list, its result and the bare array; a tool without a tier is told apart, and one with an odd name asked for", () => {
    const expected = {
      allow: ["list_it"],
      ask: ["fetch.url", "rename", "get *"],
      guarded: ["delete_it"],
      untold: ["untold"],
      odd: ["get *"],
    };
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
    ['[{"name":"a","_meta":{"countersign/tier":7}}]', 'tools[0]._meta["countersign/tier"] is not one of'],
    ['[{"name":"a","tier":0,"_meta":{"countersign/tier":3}}]', "tools[0].tier and its _meta"],
    ['{"tools":[],"nextCursor":"p2"}', "it is one page of several"],
    ['{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}', "it has no array `tools`"],
  ])("refuses %s and names the place", (text, message) => {
    expect(() => sortTools(text)).toThrow(message);
  });
});

describe.each(all)("settings for %s", (name, settingsFor) => {
  it("say who they are for, the admin's lock, the rule of the server's name, and what is not enforced", () => {
    const settings = settingsFor("crm", tools, false);
    expect(settings.client).toBe(name);
    for (const text of [
      settings.writtenFor,
      settings.adminLock,
      settings.serverNameRule,
      settings.notEnforced,
      settings.asOf,
    ])
      expect(text).not.toBe("");
  });

  it("allow nothing but tier 0: neither tier 3 nor a tool without a tier, asked for or denied", () => {
    for (const deny of [false, true]) {
      const { files, adminFiles, steps } = settingsFor("crm", tools, deny);
      const allowed = [
        ...[...files, ...adminFiles].map(({ content }) => allowedIn(content)),
        ...steps.filter((step) => /allow/i.test(step)),
      ].join("\n");
      expect(allowed).toContain("list_it");
      expect(allowed).not.toMatch(/fetch.url|rename|delete_it|untold|get/);
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
  it("Claude Code: rules by the names as it writes them; what must not run unasked is named as the server does too", () => {
    const asked = ["fetch_url", "fetch.url", "rename", "get__", "delete_it", "untold"];
    expect(parsed(claudeCode("My CRM (EU)", tools, false))).toEqual({
      permissions: {
        allow: ["mcp__My_CRM__EU___list_it"],
        ask: asked.map((tool) => `mcp__My_CRM__EU___${tool}`),
        deny: [],
      },
    });
    expect(parsed(claudeCode("crm", tools, true))).toMatchObject({
      permissions: { deny: ["mcp__crm__delete_it", "mcp__crm__untold"] },
    });
    expect(claudeCode("claude.ai My CRM (EU)", tools, false).writtenFor).toBe("claude_ai_My_CRM_EU");
    expect(claudeCode("a__b", tools, false).steps).toHaveLength(1);
  });

  it("Claude Code: of two names that it writes alike, the stricter counts", () => {
    const alike = sortTools('[{"name":"drop_it","tier":0},{"name":"drop.it","tier":3}]');
    expect(parsed(claudeCode("crm", alike, false))).toMatchObject({ permissions: { allow: [] } });
  });

  it("Claude Code: the admin's file holds the same rules, and shuts out all others and the bypass", () => {
    const { files, adminFiles } = claudeCode("crm", tools, true);
    const { permissions } = JSON.parse(files[0]?.content ?? "") as { permissions: object };
    expect(JSON.parse(adminFiles[0]?.content ?? "")).toEqual({
      allowManagedPermissionRulesOnly: true,
      permissions: { ...permissions, disableBypassPermissionsMode: "disable" },
    });
  });

  it("VS Code: none but tier 0 may be approved beforehand, keyed by the tool alone, dots as underscores", () => {
    for (const server of ["crm", "My CRM"])
      expect(parsed(vscode(server, tools, false))).toEqual({
        "chat.tools.global.autoApprove": false,
        "chat.tools.eligibleForAutoApproval": {
          fetch_url: false,
          rename: false,
          "get *": false,
          delete_it: false,
          untold: false,
        },
      });
  });

  it("Cursor: the list of what runs unasked, and the command line's rules, for a name without wildcards", () => {
    expect(parsed(cursor("crm", tools, true))).toEqual({ mcpAllowlist: ["crm:list_it"] });
    expect(parsed(cursor("crm", tools, true), 1)).toEqual({
      permissions: { allow: ["Mcp(crm:list_it)"], deny: ["Mcp(crm:delete_it)", "Mcp(crm:untold)"] },
    });
    const odd = cursor("*:CRM v1.2", tools, false);
    expect(parsed(odd)).toEqual({ mcpAllowlist: ["CRM-v1-2:list_it"] });
    expect(odd.steps[0]).toContain("Register the server as CRM-v1-2");
  });

  it("OpenAI: never and always by name; a denied tool is not offered at all", () => {
    expect(parsed(openai("My CRM", tools, false))).toMatchObject({
      server_label: "My-CRM",
      require_approval: {
        never: { tool_names: ["list_it"] },
        always: { tool_names: ["fetch.url", "rename", "get *", "delete_it", "untold"] },
      },
    });
    expect(parsed(openai("7.crm", tools, true))).toMatchObject({
      server_label: "mcp-7-crm",
      allowed_tools: ["list_it", "fetch.url", "rename", "get *"],
    });
  });

  it("OpenAI: a server of which nothing is left is left out, since an empty list might mean all", () => {
    const { files, steps } = openai("crm", sortTools('[{"name":"drop","tier":3}]'), true);
    expect(files).toEqual([]);
    expect(steps[0]).toContain("Leave the server out");
  });

  it("Claude connectors: steps for a person, each tool under one of them", () => {
    const steps = claudeConnectors("crm", tools, true).steps;
    expect(steps).toContain("Always allow: list_it.");
    expect(steps).toContain("Needs approval: fetch.url, rename, get *.");
    expect(steps).toContain("Blocked: delete_it, untold.");
  });
});

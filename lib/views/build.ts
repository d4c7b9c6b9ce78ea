import { inLocale } from "../approvals/message";
import type { Locale } from "../approvals/mint-request";
import type { JsonObject, JsonValue } from "../json/value";
import type { Localised, RecordClaims } from "../records/claims";
import { inspectText } from "../text/inspect";
import { textWarnings } from "../text/warnings";
import type { ShownArgument, ShownText, View } from "./view";

/** The view of a verified record in a locale. Pure: the same record, version and locale always give the same view (I3). */
export function buildView(record: RecordClaims, locale: Locale): View {
  const { presentation, action } = record;
  const local = (text: Localised) => shown(inLocale(text, locale));
  const optional = (text: Localised | undefined) => (text === undefined ? null : local(text));
  const details = (presentation.details ?? []).map((d) => ({
    label: local(d.label),
    value: local(d.value),
    risk: d.risk === true,
  }));
  return {
    version: record.view_version,
    locale,
    clientName: shown(record.client_name),
    mcpClient: record.mcp_client
      ? { name: shown(record.mcp_client.name), version: optional(record.mcp_client.version) }
      : null,
    mcpClientId: optional(record.caller.clientId),
    title: local(presentation.title),
    purpose: optional(presentation.purpose),
    destination: optional(presentation.destination),
    irreversible: presentation.irreversible === true,
    details: [...details.filter((d) => d.risk), ...details.filter((d) => !d.risk)],
    checks: (presentation.checks ?? []).map((c) => ({
      label: local(c.label),
      value: shown(typeof c.actual === "string" ? c.actual : JSON.stringify(c.actual)),
    })),
    tool: shown(action.tool),
    arguments: shownArguments(action.arguments),
    modelNote: optional(presentation.modelNote),
    expiresAt: new Date(record.exp * 1000).toISOString(),
  };
}

function shown(text: string): ShownText {
  return { spans: inspectText(text, { multiline: true }), warnings: textWarnings(text) };
}

/** Every leaf with the way to it, in the order of the signed text: nothing is folded, cut or left out. */
function shownArguments(args: JsonObject): ShownArgument[] {
  return Object.entries(args).flatMap(([name, value]) => leaves(value, [{ name: shown(name) }]));
}

function leaves(value: JsonValue, path: ShownArgument["path"]): ShownArgument[] {
  if (value === null) return [{ path, type: "null", value: null }];
  switch (typeof value) {
    case "string":
      return [{ path, type: "text", value: shown(value) }];
    case "number":
      return [{ path, type: "number", value: shown(JSON.stringify(value)) }];
    case "boolean":
      return [{ path, type: "boolean", value: shown(String(value)) }];
    default:
      return containerLeaves(value, path);
  }
}

function containerLeaves(
  value: Exclude<JsonValue, null | string | number | boolean>,
  path: ShownArgument["path"],
): ShownArgument[] {
  if (Array.isArray(value)) {
    if (value.length === 0) return [{ path, type: "emptyList", value: null }];
    return value.flatMap((item: JsonValue, position) => leaves(item, [...path, { position }]));
  }
  const members = Object.entries(value as JsonObject);
  if (members.length === 0) return [{ path, type: "emptyObject", value: null }];
  return members.flatMap(([name, member]) => leaves(member, [...path, { name: shown(name) }]));
}

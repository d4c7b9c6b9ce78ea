import type { FormPrompt } from "./mcp-call";

/** The one field of a form as MCP wants it: required, without a default. */
export function formSchemaOf({ field, title, options }: FormPrompt) {
  return {
    type: "object" as const,
    properties: {
      [field]: {
        type: "string" as const,
        title,
        oneOf: options.map(({ value, title: words }) => ({ const: value, title: words })),
      },
    },
    required: [field],
  };
}

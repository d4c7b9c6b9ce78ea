/**
 * The route of a request as a label: a template out of a closed set, whatever the path holds. `target` is path and query. A status read that
 * parks is a route of its own, for its duration is the person's.
 */
export function routeLabel(target: string): string {
  const [path = "/", query = ""] = target.split("?", 2);
  if (waitPattern.test(path) && /(?:^|&)wait=[1-9]/.test(query)) return "/api/v1/approvals/{id}?wait";
  for (const [pattern, label] of routes) if (pattern.test(path)) return label;
  return "other";
}

const segment = "[^/]+";
const waitPattern = new RegExp(`^/api/v1/approvals/${segment}$`);

const templates = [
  "/api/v1/approvals",
  "/api/v1/approvals/{id}",
  "/api/v1/approvals/{id}/consume",
  "/api/v1/approvals/{id}/outcome",
  "/api/v1/approvals/{id}/withdraw",
  "/api/v1/openapi.json",
  "/a/{id}",
  "/a/{id}/decision",
  "/a/{id}/challenge",
  "/inbox",
  "/signin",
  "/healthz",
  "/readyz",
  "/metrics",
] as const;

const routes: readonly (readonly [RegExp, string])[] = [
  ...templates.map((template) => [new RegExp(`^${template.replace("{id}", segment)}$`), template] as const),
  ...["/a/", "/account", "/admin", "/audit", "/api/auth/", "/.well-known/", "/_next/"].map(
    (prefix) => [new RegExp(`^${prefix.replaceAll(".", "\\.")}`), `${prefix.replace(/\/$/, "")}/*`] as const,
  ),
];
